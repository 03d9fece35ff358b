package api

import (
	"context"
	"net/http"

	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

type tryCloudRule struct {
	cloudDraft `requires:"expectedEvents"`
}

func (a *API) registerCloudTrials(r *rest.Router) {
	path := rulesPaths[notify.Cloud]
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/test"}, rest.Words{
		ID: "testCloudRule", Tag: "rules", Summary: "Sends a test message of a rule of the cloud edition, which need not be saved.",
		Text:    "As `" + filterPath + "/test`. Needs `REPO_ADMIN` of the repository, and no account.",
		Answer:  "The result, whatever the chat platform answered.",
		Refused: []int{http.StatusForbidden, http.StatusConflict, http.StatusTooManyRequests},
	}, a.testCloudRule, rest.Example[cloudDraft, Tested]{Name: "failures", In: exampleCloudDraft, Err: noCloud})
	rest.Add(r, rest.Route{Method: "POST", Path: path + "/try"}, rest.Words{
		ID: "tryCloudRule", Tag: "rules", Summary: "Tests a rule of the cloud edition, saved or not, on the last events of its repository.",
		Text:   "As `" + filterPath + "/try`. Needs `REPO_ADMIN` of the repository, and no account.",
		Answer: "What it would have made of them, the newest first.", Refused: []int{http.StatusForbidden, http.StatusTooManyRequests},
	}, a.tryCloudRule, rest.Example[tryCloudRule, Trial]{Name: "failures", In: tryCloudRule{exampleCloudDraft}, Err: noCloud})
}

// tryCloudRule says which of the last events of the repository a rule, saved or
// not, would have taken.
func (a *API) tryCloudRule(ctx context.Context, in tryCloudRule) (Trial, error) {
	draft, err := a.readCloudRule(ctx, &in.cloudDraft)
	if err != nil {
		return Trial{}, err
	}
	trial, err := a.Trials.Try(ctx, draft, in.Wrong)
	return trialOf(trial, inCloudNames(err))
}

// testCloudRule sends a test message of a rule that need not be saved.
func (a *API) testCloudRule(ctx context.Context, in cloudDraft) (Tested, error) {
	draft, err := a.readCloudRule(ctx, &in)
	if err != nil {
		return Tested{}, err
	}
	done, err := a.Rules.Test(ctx, draft, in.WebhookURL, in.Wrong)
	return testedOf(done, inCloudNames(err))
}
