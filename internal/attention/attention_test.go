package attention

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/console"
	"outrigger/internal/fault"
)

func TestItems(t *testing.T) {
	since, until := time.Date(2027, 2, 20, 12, 0, 0, 0, time.UTC), time.Date(2027, 2, 20, 13, 0, 0, 0, time.UTC)
	a := &API{Node: "code-1", List: func(context.Context) ([]console.Notice, error) {
		return []console.Notice{
			{Kind: "channel", Text: "It is broken.", Link: "/channels/9", Tone: console.Bad, Since: since, Remedy: console.Remedy{Label: "Try again", Path: "/channels/9/retry", Posts: []console.Hidden{}}},
			{Kind: "expiry", Text: "It ends.", Link: "/settings", Tone: console.Warn, Since: since, Remedy: console.Remedy{Label: "Open the settings", Path: "/settings#proxy"}},
			{Kind: "gap", Text: "Nothing listened.", Since: since, Until: until},
			{Kind: "begun", Text: "It is new.", Remedy: console.Remedy{Label: "Start", Path: "/start", Posts: []console.Hidden{}}},
		}, nil
	}}
	got, err := a.read(t.Context(), struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	want := Attention{Node: "code-1", Items: []Item{
		{Kind: "channel", Severity: bad, Cause: "It is broken.", Since: since, Link: "/channels/9", Help: &Help{"Try again", "/channels/9"}},
		{Kind: "expiry", Severity: warning, Cause: "It ends.", Since: since, Link: "/settings", Help: &Help{"Open the settings", "/settings#proxy"}},
		{Kind: "gap", Severity: warning, Cause: "Nothing listened.", Since: since, Until: until},
		{Kind: "begun", Severity: warning, Cause: "It is new.", Help: &Help{"Start", "/"}},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Parts that fail are items, beside what the others have. What is for the log is there only.
func TestUnreadParts(t *testing.T) {
	var log strings.Builder
	a := &API{Log: slog.New(slog.NewTextHandler(&log, nil)), List: func(context.Context) ([]console.Notice, error) {
		away := fault.New(fault.Unavailable, "The mail queue does not answer.")
		return []console.Notice{{Kind: "gap", Text: "Nothing listened."}}, errors.Join(away, errors.New("inner cause"))
	}}
	got, err := a.read(t.Context(), struct{}{})
	if err != nil || len(got.Items) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	for i, want := range []string{"The mail queue does not answer.", "The log of the node has the reason.", "Nothing listened."} {
		if !strings.HasSuffix(got.Items[i].Cause, want) || strings.Contains(got.Items[i].Cause, "inner") {
			t.Errorf("%d: %+v", i, got.Items[i])
		}
	}
	if got.Items[0].Kind != Unread || got.Items[1].Kind != Unread || !strings.Contains(log.String(), "inner cause") {
		t.Errorf("%+v, log %s", got.Items, log.String())
	}
}

// One error, not joined, is one part.
func TestOneUnreadPart(t *testing.T) {
	a := &API{List: func(context.Context) ([]console.Notice, error) {
		return nil, fault.New(fault.Unavailable, "The database does not answer.")
	}}
	if got, err := a.read(t.Context(), struct{}{}); err != nil || len(got.Items) != 1 || got.Items[0].Cause != "The database does not answer." {
		t.Errorf("%+v, %v", got, err)
	}
}
