package cardhtml_test

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
	"outrigger/internal/notify/cardhtml"
	"outrigger/internal/notify/notifytest"
)

func drawDigest(t *testing.T, events []*notify.Event, f notify.Format) string {
	t.Helper()
	s, err := cardhtml.Digest(card.NewDigest(events), f)
	if err != nil {
		t.Fatal(err)
	}
	return string(s)
}

func TestDigestGolden(t *testing.T) {
	var events []*notify.Event
	for i, x := range []notify.EventType{notify.BranchCreated, notify.PullRequestMerged, notify.BuildStatusSet, notify.ProjectFieldEdited} {
		e := sample.Event(x)
		e.At = time.Date(2026, 11, 5, 7, 28+i, 0, 0, time.UTC)
		events = append(events, &e)
	}
	events[1].Repository = notify.Repository{Key: "outrigger", Name: "out_rigger & <co>"}
	both := drawDigest(t, events, notify.Teams) + drawDigest(t, events, notify.Slack)
	if err := notifytest.GoldenText("digest.html", both); err != nil {
		t.Error(err)
	}
}

// What people typed stays text in a digest too.
func TestNothingTypedIsMarkupInADigest(t *testing.T) {
	e := sample.Event(notify.BranchCreated)
	e.Repository.Name, e.Branch = `<img src=x onerror=y>`, `<script>alert(1)</script>`
	for _, f := range []notify.Format{notify.Teams, notify.Slack} {
		s := drawDigest(t, []*notify.Event{&e}, f)
		text, elements := shown(t, s)
		if elements["script"]+elements["img"] != 0 || !strings.Contains(text, e.Repository.Name) || !strings.Contains(text, e.Branch) {
			t.Errorf("%s: elements %v of\n%s", f, elements, s)
		}
	}
}
