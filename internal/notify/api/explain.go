package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// Explanation says of an event what each rule made of it.
type Explanation struct {
	Event      Event         `json:"event" doc:"The event."`
	Items      []RuleVerdict `json:"items" doc:"The rules of this page that the reader administers."`
	Next       string        `json:"next,omitempty" doc:"What after takes for the next page; absent from the last one."`
	Hidden     hiddenRules   `json:"hidden" doc:"Of the rules of this page, those that the reader does not administer."`
	OtherRules int           `json:"otherRules"`
	Deliveries []Delivery    `json:"deliveries" doc:"Of the rules of this page, as far as they are kept and the reader may see them."`
}

// MemberWords are those of the members that need more than a few.
func (Explanation) MemberWords() map[string]string {
	return map[string]string{
		"otherRules": "How many rules of other projects and repositories are not listed, because they never take events of this one; " +
			"10,000 stands for that and more.",
	}
}

// hiddenRules are the rules that the reader does not administer.
type hiddenRules struct {
	Rules int `json:"rules" doc:"How many rules they are."`
	Taken int `json:"taken" doc:"How many of them took it."`
}

// RuleVerdict is a rule as it was, and what it made of the event.
type RuleVerdict struct {
	ID            int64              `json:"id" doc:"The rule's id."`
	Version       int64              `json:"version" doc:"Of the rule that judged the event."`
	Name          string             `json:"name" doc:"What it was called."`
	Level         notify.Level       `json:"level" enum:"GLOBAL,PROJECT,REPOSITORY" doc:"Whose events it took."`
	ProjectKey    string             `json:"projectKey,omitempty" doc:"The project that it was for; absent for a global rule."`
	RepositoryKey string             `json:"repositoryKey,omitempty" doc:"The repository that it was for; absent for other rules."`
	Channel       string             `json:"channel" doc:"The fingerprint of the webhook URL."`
	ChannelName   string             `json:"channelName,omitempty" doc:"What the rule called the channel; absent where it did not."`
	Outcome       notify.RuleOutcome `json:"outcome" enum:"taken,refused,disabled,undecided,other,withheld"`
	Filter        string             `json:"filter,omitempty" doc:"The first filter that did not match."`
	Wants         string             `json:"wants,omitempty"`
	Has           string             `json:"has,omitempty" doc:"What the event has; absent where it has none."`
	Note          string             `json:"note,omitempty" doc:"What else there is to say about it."`
	Delivery      int64              `json:"delivery,omitempty" doc:"Its delivery, where it is kept."`
	ChangedAt     time.Time          `json:"changedAt,omitzero" doc:"When the rule was next changed or deleted."`
	ChangedBy     string             `json:"changedBy,omitempty" doc:"Who changed or deleted it; absent where nobody has."`
	Deleted       bool               `json:"deleted,omitempty" doc:"Whether the rule is not there any more."`
}

// MemberWords are those of the members that need more than a few.
func (RuleVerdict) MemberWords() map[string]string {
	return map[string]string{
		"outcome": "`refused` by the filter that is named; `undecided`, it is being decided; `other`, of a webhook about many refs it " +
			"took others; `withheld`, it would have taken the event, which is not delivered: `reason` of the event or `note` says why.",
		"wants": "What it asks; absent where `note` says why the rule takes no events.",
	}
}

type explainedEvent struct {
	ofEvent
	Page rest.Page
}

func (a *API) registerExplanations(r *rest.Router) {
	event := Event{
		ID: 8151, ReceivedAt: exampleTime, Connection: "main", Key: "repo:refs_changed", Outcome: notify.EventNotTaken,
		EventTypes: []notify.EventType{notify.BranchUpdated}, ProjectKey: "ALPHA", RepositoryKey: "api", Branch: "main", User: "ada",
	}
	rest.Add(r, rest.Route{Method: "GET", Path: EventsPath + "/{id}/explain"}, rest.Words{
		ID: "explainEvent", Tag: "rules", Summary: "Explains which rules took an event, and why the others did not.",
		Answer: "A page of rules.",
		Text: "The rules are those of the moment at which the event came, as they were then, whatever has become of them: the " +
			"repository's own first, then its project's, then the global ones. Who may ask: as for the event; rules that one does not " +
			"administer are only counted.",
		Refused: []int{http.StatusForbidden}, RefusedFor: noEvent,
	}, a.explainEvent, []rest.Example[explainedEvent, Explanation]{
		{Name: "refused", Out: &Explanation{Event: event, OtherRules: 12, Items: []RuleVerdict{{
			ID: 7, Version: 3, Name: "releases", Level: notify.Global, Channel: "5f1c2a9be04d7731", ChannelName: "Releases",
			Outcome: notify.RuleRefused, Filter: "branchMask", Wants: "release/.*", Has: "main",
		}}}},
		{Name: "fresh", Err: errNoEvent},
	}...)
}

func (a *API) explainEvent(ctx context.Context, in explainedEvent) (out Explanation, err error) {
	after, err := notify.ParseVersionCursor(in.Page.After)
	if err != nil {
		return out, rest.ErrAfter()
	}
	x, err := a.Events.Explain(ctx, in.ID, after, in.Page.Limit)
	if err != nil {
		return out, err
	}
	out = Explanation{
		Event: eventOf(x.Event), Items: rest.Each(x.Rules, verdictOf), Hidden: hiddenRules{x.Hidden, x.HiddenTook},
		OtherRules: x.Elsewhere, Deliveries: rest.Each(x.Deliveries, deliveryOf),
	}
	if x.Next != nil {
		out.Next = in.Page.Next(fmt.Sprint(x.Next))
	}
	return out, nil
}

// noteOf is the note about a verdict. A reason in sentences goes before it.
func noteOf(r notify.Reason, note string) string { return strings.TrimSpace(r.Says + " " + note) }

func verdictOf(v notify.RuleVerdict) RuleVerdict {
	out := RuleVerdict{
		ID: v.ID, Version: v.Version, Name: v.Name, Level: v.Level(), ProjectKey: v.ProjectKey, RepositoryKey: v.RepositoryKey,
		Channel: v.Channel.Fingerprint, ChannelName: v.ChannelName, Outcome: v.Outcome,
		Filter: v.Reason.Member, Wants: v.Reason.Wants, Has: v.Reason.Has, Note: noteOf(v.Reason, v.Note),
		ChangedAt: v.Changed, ChangedBy: v.ChangedBy, Deleted: v.Deleted,
	}
	if v.Delivery != nil {
		out.Delivery = v.Delivery.ID
	}
	return out
}
