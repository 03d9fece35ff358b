package api

import (
	"context"
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// ThreadsSource is how the self-hosted side stands.
type ThreadsSource struct {
	Source    string         `json:"source" enum:"file,sql" doc:"Where the hierarchy comes from; sql: the host's database."`
	Records   int64          `json:"records" doc:"How many records of the hierarchy are stored."`
	ChangedAt time.Time      `json:"changedAt,omitzero" doc:"When the records changed last."`
	Mirror    *mirrored      `json:"mirror,omitempty" doc:"Where the hierarchy is mirrored from a database."`
	Mappings  []siteMappings `json:"mappings" doc:"The id mappings that are stored, by cloud site."`
}

type mirrored struct {
	MirroredAt   time.Time `json:"mirroredAt,omitzero" doc:"When the database was read in full last; absent: never."`
	TriedAt      time.Time `json:"triedAt,omitzero" doc:"When that was tried last."`
	Failure      string    `json:"failure,omitempty" doc:"Why the last try did not go through; while it is there, the export answers 503."`
	FailingSince time.Time `json:"failingSince,omitzero" doc:"When the first of the failures in a row was."`
	Removes      int64     `json:"removes,omitempty" doc:"How many records wait for acceptRemoval to be removed: more than half of them."`
}

type siteMappings struct {
	CloudSiteURL string       `json:"cloudSiteUrl" doc:"The cloud site that they are for."`
	ChangedAt    time.Time    `json:"changedAt" doc:"When they changed last."`
	Total        int64        `json:"total" doc:"How many mappings are stored for the site."`
	EntityTypes  []entityType `json:"entityTypes" doc:"How many there are of each kind of thing."`
}

type entityType struct {
	EntityType string `json:"entityType" doc:"What the ids are of."`
	Mappings   int64  `json:"mappings" doc:"How many mappings of it are stored."`
}

// mirroring is an order to read the host's database.
type mirroring struct {
	AcceptRemoval bool `query:"acceptRemoval" default:"false" doc:"Let the next reading remove as many as the mirror's removes says."`

	Removes *int64 `query:"removes" min:"1" doc:"With acceptRemoval: that number, as it was seen. If it is another one now: 409."`

	Wrong fault.Fields `json:"-"`
}

func (a *Source) registerState(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "GET", Path: SourcePath, Access: rest.SysAdmins}, rest.Words{
		ID: "showSource", Tag: tag, Summary: "Returns the state of the self-hosted side.", Text: needsSysAdmin,
		Answer: "The hierarchy and the mappings that are there.",
	}, func(ctx context.Context, _ struct{}) (ThreadsSource, error) { return a.state(ctx) },
		rest.Example[struct{}, ThreadsSource]{Name: "mirrored", Out: &mirroredSource})
	rest.Add(r, rest.Route{Method: "POST", Path: SourcePath + "/mirror", Access: rest.SysAdmins}, rest.Words{
		ID: "mirrorSource", Tag: tag, Summary: "Has the host application's database read now.", Status: http.StatusAccepted,
		Text: "Needs `SYS_ADMIN`. A reading that would remove more than half of the records removes none, and waits for " +
			"`acceptRemoval`; until then the export answers 503. How it went is in `mirror` of the source.",
		Answer: "It begins; this is how the side stands.", Refused: []int{http.StatusConflict},
	}, a.mirrorNow,
		rest.Example[mirroring, ThreadsSource]{Name: "fresh", Err: fault.New(fault.Conflict,
			"The hierarchy comes from files; it is mirrored only if threads.source is sql.")})
}

var mirroredSource = ThreadsSource{
	Source: "sql", Records: 123456, ChangedAt: time.Date(2026, 2, 3, 9, 12, 44, 0, time.UTC),
	Mirror: &mirrored{MirroredAt: day, TriedAt: day},
	Mappings: []siteMappings{{
		CloudSiteURL: "https://example.atlassian.net", ChangedAt: time.Date(2026, 2, 5, 15, 10, 2, 0, time.UTC), Total: 1523,
		EntityTypes: []entityType{{"jira:comment", 1400}, {"jira:issue", 123}},
	}},
}

// day is that of the examples.
var day = time.Date(2026, 2, 5, 16, 0, 0, 0, time.UTC)

// state says how the side stands.
func (a *Source) state(ctx context.Context) (out ThreadsSource, err error) {
	st, err := a.Store.State(ctx)
	if err != nil {
		return out, err
	}
	sites, err := a.Store.Sites(ctx)
	if err != nil {
		return out, err
	}
	out = ThreadsSource{Source: "file", Records: st.Records, ChangedAt: st.ChangedAt, Mappings: []siteMappings{}}
	if a.Mirror != nil {
		out.Source, out.Mirror = "sql", &mirrored{st.MirroredAt, st.TriedAt, st.Failure, st.FailingSince, st.Removes}
	}
	for _, s := range sites {
		site := siteMappings{CloudSiteURL: s.URL, ChangedAt: s.ChangedAt, Total: s.Mappings(), EntityTypes: []entityType{}}
		for _, k := range s.Kinds {
			site.EntityTypes = append(site.EntityTypes, entityType{k.EntityType, k.Mappings})
		}
		out.Mappings = append(out.Mappings, site)
	}
	return out, nil
}

// mirrorNow has the host's database read now.
func (a *Source) mirrorNow(ctx context.Context, in mirroring) (ThreadsSource, error) {
	wrong, removes := in.Wrong, int64(0)
	if in.Removes != nil {
		removes = *in.Removes
		if removes < 1 {
			wrong.Add("removes", "Give the number of records that the source's mirror says would be removed.")
		}
		if !in.AcceptRemoval {
			wrong.Add("removes", "It goes with acceptRemoval=true.")
		}
	}
	if err := wrong.Err(); err != nil {
		return ThreadsSource{}, err
	}
	if err := a.Mirror.Order(ctx, in.AcceptRemoval, removes); err != nil {
		return ThreadsSource{}, err
	}
	return a.state(ctx)
}
