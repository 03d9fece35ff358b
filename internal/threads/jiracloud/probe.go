package jiracloud

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json"

	"outrigger/internal/threads"
)

// editIssues is the permission that writing issue properties needs.
// Source: https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-permissions/
const editIssues = "EDIT_ISSUES"

// Probe asks for what could be done with an issue's map, and changes nothing
// that a reader sees. A 404 that is no JSON counts as an answer about the issue
// here, unlike in Write: where every issue of a sample gets one, the URL is
// wrong.
func (t *Target) Probe(ctx context.Context, issue int64, what threads.Probe) error {
	if what == threads.ProbeWrite {
		return t.rewrite(ctx, issue)
	}
	if _, err := t.site.keys(ctx, issue); err != nil {
		return foundNothing(err)
	}
	if what == threads.ProbeEdit {
		return t.site.mayEdit(ctx, issue)
	}
	return nil
}

// foundNothing makes a 404 that is no JSON one about its issue.
func foundNothing(err error) error {
	var e *threads.TargetError
	if errors.As(err, &e) && errors.Is(e.Cause, errNoAPI) {
		e.Kind = threads.TargetMissing
	}
	return err
}

// mayEdit asks for the account's permission. Sites, gateways and tokens that do
// not know the call refuse it in many ways, and none of them says anything about
// the permission; a rate limit is one here too.
func (s *site) mayEdit(ctx context.Context, issue int64) error {
	a, err := s.ask(ctx, question{endpoint: permissions, issue: issue, max: maxProperty})
	var e *threads.TargetError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e) && e.Kind == threads.TargetLimits:
		return err
	case err != nil || a.status != http.StatusOK:
		return nil
	}
	var mine struct {
		Permissions map[string]struct {
			Have *bool `json:"havePermission"`
		} `json:"permissions"`
	}
	if json.Unmarshal(a.body, &mine) != nil {
		return nil
	}
	if have := mine.Permissions[editIssues].Have; have != nil && !*have {
		return &threads.TargetError{
			Kind: threads.TargetForbids, Message: fmt.Sprintf("The cloud site says that the account may not edit issue %d", issue),
		}
	}
	return nil
}

// rewrite writes an issue's head as it is. Where there is none, one of an empty
// map, which readers take for no map, is written and deleted.
func (t *Target) rewrite(ctx context.Context, issue int64) error {
	turn, err := t.pace.turn(ctx, issue)
	if err != nil {
		return err
	}
	defer turn.end()
	text, ok, err := t.site.get(ctx, issue, headKey)
	if err != nil {
		return t.explained(issue, headKey, err)
	}
	h := &head{Generation: 1}
	if ok {
		if h, err = decodeHead(text); err != nil {
			return t.unreadable(issue, headKey, err)
		}
	}
	if err := t.site.put(ctx, turn, issue, headKey, h.encode()); err != nil {
		return err
	}
	if h.Parts == 0 && len(h.Parents) == 0 {
		return t.site.remove(ctx, turn, issue, headKey)
	}
	return nil
}
