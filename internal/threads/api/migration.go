package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
)

// operating is what comes with an operation that names no files.
type operating struct{}

// starting names the files whose data is to be processed.
type starting struct {
	threads.Drafts
}

// loading names the files that are to be loaded.
type loading struct {
	threads.Drafts
	AcceptIncomplete bool `query:"acceptIncomplete" json:"-" default:"false"`
	AcceptOtherSite  bool `query:"acceptOtherSite" json:"-" default:"false"`
}

// MemberWords are those too long for a tag.
func (loading) MemberWords() map[string]string {
	return map[string]string{
		"acceptIncomplete": "Load files that are damaged or not all there (`incomplete` of the preview) as they are. Without it they " +
			"are refused; with it, status and comparison say what was wrong.",
		"acceptOtherSite": "Load id mappings that are for another site than the target (`sites` of the preview). Without it they are " +
			"refused.",
	}
}

func (a *Admin) registerMigration(r *rest.Router) {
	addOperation(a, r, threads.OpUpload, loadWords, true, func(in loading) threads.Wish {
		return threads.Wish{AcceptIncomplete: in.AcceptIncomplete, AcceptOtherSite: in.AcceptOtherSite, Drafts: in.Drafts}
	}, rest.Example[loading, threads.MigrationStatus]{
		Name: "fresh", In: loading{Drafts: exampleDrafts}, Err: fault.New(fault.Conflict,
			"The hierarchy file is missing; choose and send it first."),
	})
	addOperation(a, r, threads.OpStart, startWords, true, func(in starting) threads.Wish { return threads.Wish{Drafts: in.Drafts} },
		rest.Example[starting, threads.MigrationStatus]{Name: "fresh", In: starting{exampleDrafts}, Err: notAllowed(threads.OpStart)})
	for _, op := range threads.Operations() {
		if words, named := operationWords[op]; named {
			addOperation(a, r, op, words, false, func(operating) threads.Wish { return threads.Wish{} })
		}
	}
	rest.Add(r, rest.Route{Method: "GET", Path: MigrationPath + "/status", Access: rest.SysAdmins}, rest.Words{
		ID: "showMigration", Tag: tag, Summary: "Returns the state of the migration.", Text: needsSysAdmin,
		Answer: "The state of the migration.",
	}, func(ctx context.Context, _ struct{}) (threads.MigrationStatus, error) { return a.Status(ctx) },
		rest.Example[struct{}, threads.MigrationStatus]{Name: "processing", Out: &exampleStatus})
	events := rest.Route{Method: "GET", Path: MigrationPath + "/events", Access: rest.SysAdmins, Own: true}
	rest.Serve[struct{}, string](r, events, rest.Words{
		ID: "followMigration", Tag: tag, Summary: "Streams the status as server-sent events, whenever it has changed.",
		Media: []string{"text/event-stream"},
		Text: "Needs `SYS_ADMIN`. The data of each event is what `status` answers. A stream ends after 5 minutes; ask again. There are " +
			"at most 200 at once, 10 of a user.",
		Answer: "The events.", Refused: []int{http.StatusTooManyRequests},
	}, a.events)
}

// addOperation adds the endpoint of an operation of the migration.
func addOperation[In any](a *Admin, r *rest.Router, op threads.Operation, words rest.Words, bare bool, wish func(In) threads.Wish,
	examples ...rest.Example[In, threads.MigrationStatus]) {
	words.Tag, words.Status, words.Answer = tag, http.StatusAccepted, "It is done, or has begun; how the migration stands now."
	words.Refused = []int{http.StatusConflict}
	switch {
	case op == threads.OpReset: // which a fresh migration allows
		empty := threads.StatusOf(&threads.Migration{Phase: threads.PhaseEmpty})
		examples = append(examples, rest.Example[In, threads.MigrationStatus]{Name: "empty", Out: &empty})
	case len(examples) == 0:
		examples = append(examples, rest.Example[In, threads.MigrationStatus]{Name: "fresh", Err: notAllowed(op)})
	}
	route := rest.Route{Method: "POST", Path: MigrationPath + "/" + string(op), Access: rest.SysAdmins, Bare: bare}
	rest.Add(r, route, words, func(ctx context.Context, in In) (s threads.MigrationStatus, err error) {
		m, err := a.Store.Operate(ctx, op, wish(in))
		if err != nil {
			return s, err
		}
		return a.StatusOf(ctx, &m)
	}, examples...)
}

// notAllowed is how a migration without data refuses an operation.
func notAllowed(op threads.Operation) error {
	_, err := threads.PhaseEmpty.After(op)
	return err
}

// stageState is how far a preview is.
type stageState struct {
	State string  `json:"state" enum:"wanted,running" doc:"wanted: it begins within seconds; running: it is being computed."`
	Step  string  `json:"step,omitempty" doc:"What is done, such as Reading the hierarchy."`
	Done  float64 `json:"done" min:"0" max:"1" doc:"How far it is, from 0 to 1."`
}

func (a *Admin) registerPreview(r *rest.Router) {
	preview := rest.Route{Method: "GET", Path: MigrationPath + "/preview", Access: rest.SysAdmins}
	rest.Serve[struct{}, threads.Previewed](r, preview, rest.Words{
		ID: "previewMigration", Tag: tag, Summary: "Returns what will come of the drafts, or of the data that is loaded where there " +
			"are no drafts.",
		Text: "Needs `SYS_ADMIN`. The first call has it computed.", Answer: "What will come of them.",
		Also: []rest.Success{{Status: http.StatusAccepted, Text: "It is being computed.", Headers: []string{"Retry-After"},
			Of: stageState{}}},
		Refused: []int{http.StatusBadRequest, http.StatusConflict},
		RefusedFor: map[int]string{
			http.StatusBadRequest: "A file cannot be used; the message says why.",
			http.StatusConflict:   "A file is missing.",
		},
	}, a.preview, []rest.Example[struct{}, threads.Previewed]{
		{Name: "small", Out: &examplePreview},
		{Name: "fresh", Err: fault.New(fault.Conflict, "The hierarchy file is missing; choose and send it first.")},
	}...)
}

func (a *Admin) preview(w http.ResponseWriter, r *http.Request, _ struct{}) error {
	st, err := a.Store.Preview(r.Context())
	switch {
	case err != nil:
		return err
	case st.State == threads.StageFailed:
		return fault.New(fault.Invalid, "%s", st.Message)
	case st.Preview == nil:
		return later(w, r, stageState{st.State, st.Step, st.Done})
	}
	return rest.WriteJSON(w, r, http.StatusOK, threads.Previewed{
		Preview: *st.Preview, Drafts: st.Drafts(), Sites: threads.SitesOf(st.Site(), a.Store.Target()),
	})
}
