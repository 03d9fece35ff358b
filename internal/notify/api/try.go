package api

import (
	"context"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/rest"
)

// Trial is what a rule would have made of the last events.
type Trial struct {
	Tried int     `json:"tried" max:"50" doc:"How many events were tried."`
	Taken int     `json:"taken" doc:"How many of them the rule would take."`
	Items []Tried `json:"items" doc:"The events, the newest first."`
}

// Tried is one of them.
type Tried struct {
	Event   Event              `json:"event" doc:"The event."`
	Outcome notify.RuleOutcome `json:"outcome" enum:"taken,refused" doc:"What the rule would have done."`
	Filter  string             `json:"filter,omitempty" doc:"The first filter that did not match."`
	Wants   string             `json:"wants,omitempty" doc:"What it asks."`
	Has     string             `json:"has,omitempty" doc:"What the event has; absent where it has none."`
	Note    string             `json:"note,omitempty" doc:"Which filters could not be asked."`
}

type tryRule struct {
	ruleDraft `requires:"eventTypes"`
}

func (a *API) registerTrials(r *rest.Router) {
	rest.Add(r, rest.Route{Method: "POST", Path: filterPath + "/test"}, rest.Words{
		ID: "testRule", Tag: "rules", Summary: "Sends a test message of a rule, which need not be saved.",
		Text: "At once, at most 10 a minute and user, on all nodes together: the card of the first of `eventTypes`, marked as a test. " +
			"Needs the permission of the rule's level. Of the members only those that the message needs are looked at: where the rule " +
			"belongs, `webhookUrl`, `format`, `eventTypes`. With an `id`, an empty `webhookUrl` or the rule's own mask means the stored " +
			"one. The rule stays as it is; a broken channel that takes the message is open again.",
		Answer:  "The result, whatever the chat platform answered.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusTooManyRequests},
	}, a.testFilter, rest.Example[ruleDraft, Tested]{
		Name: "noAddress", In: draftOf(Rule{EventTypes: []string{"TAG_CREATED"}}), Err: fault.InvalidField("webhookUrl", noAddress),
	})
	rest.Add(r, rest.Route{Method: "POST", Path: filterPath + "/try"}, rest.Words{
		ID: "tryRule", Tag: "rules", Summary: "Tests a rule, saved or not, on the last events.",
		Answer: "What it would have made of them, the newest first.",
		Text: "The last 50 events of the rule's connection, project or repository, each with the first filter that says no. Needs the " +
			"permission of the rule's level. `name`, `webhookUrl` and `enabled` are not looked at; with an `id` the rule's place is the " +
			"stored one. Masks and groups are asked for 5 s at most; what could not be asked counts as met, and `note` says so. Nothing " +
			"is kept and nothing is sent.",
		Refused: []int{http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests},
	}, a.tryFilter, []rest.Example[tryRule, Trial]{
		{Name: "releases",
			In:  tryRule{draftOf(Rule{EventTypes: []string{"BRANCH_UPDATED"}, Filter: notify.Filter{BranchMask: "release/.*"}})},
			Out: &Trial{Items: []Tried{}}},
		{Name: "noEvents", In: tryRule{draftOf(Rule{EventTypes: []string{}, Filter: notify.Filter{BranchMask: "release/("}})},
			Err: fault.Fields{
				{Name: "eventTypes", Message: "Select at least one event type."},
				{Name: "branchMask", Message: `at character 9: This ( is never closed; add ) or write \(.`},
			}.Err()},
	}...)
}

func (a *API) tryFilter(ctx context.Context, in tryRule) (Trial, error) {
	draft, err := a.selfHosted(ctx, in.rule(), &in.Wrong)
	if err != nil {
		return Trial{}, err
	}
	return trialOf(a.Trials.Try(ctx, draft, in.Wrong))
}

func (a *API) testFilter(ctx context.Context, in ruleDraft) (Tested, error) {
	draft, err := a.selfHosted(ctx, in.rule(), &in.Wrong)
	if err != nil {
		return Tested{}, err
	}
	return testedOf(a.Rules.Test(ctx, draft, in.WebhookURL, in.Wrong))
}

func trialOf(trial admin.Trial, err error) (Trial, error) {
	return Trial{Tried: len(trial.Events), Taken: trial.Taken, Items: rest.Each(trial.Events, triedOf)}, err
}

func triedOf(e notify.TriedEvent) Tried {
	return Tried{
		Event: eventOf(e.LoggedEvent), Outcome: e.Outcome,
		Filter: e.Reason.Member, Wants: e.Reason.Wants, Has: e.Reason.Has, Note: noteOf(e.Reason, e.Note),
	}
}
