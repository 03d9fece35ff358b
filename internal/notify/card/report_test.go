package card_test

import (
	"strings"
	"testing"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
)

func TestReportTitles(t *testing.T) {
	for _, c := range []struct {
		activity notify.Activity
		want     string
		kind     card.Kind
	}{
		{notify.Activity{Name: "Stale"}, "Stale: no open pull requests in ATL/engine", card.Good},
		{notify.Activity{Name: "Stale", Open: 1}, "Stale: 1 open pull request, none inactive in ATL/engine", card.Good},
		{notify.Activity{Open: 12, Inactive: 4}, "Activity report: 12 open pull requests, 4 inactive in ATL/engine", card.Warning},
	} {
		e := sample.Report(0, 0)
		e.Report = &c.activity
		if got := card.New(&e); got.Title != c.want || got.Kind != c.kind {
			t.Errorf("%q of kind %d, want %q of kind %d", got.Title, got.Kind, c.want, c.kind)
		}
	}
}

func TestReportNamesTheOldestAndCountsTheRest(t *testing.T) {
	e := sample.Report(5000, 4000)
	c := card.New(&e)
	if len(c.Items) != 20 || c.ItemsMore() != "and 3980 more" {
		t.Errorf("%d items, %q", len(c.Items), c.ItemsMore())
	}
	if want := "by Ada Lovelace into release/2_1 · idle for 40 days · waits for Grace Hopper, Alan Turing"; c.Items[0].Detail != want {
		t.Errorf("the first is %q, want %q", c.Items[0].Detail, want)
	}
	for c.Shorten() && len(c.Items) > 0 {
	}
	if c.ItemsMore() != "4000 pull requests" || !strings.HasPrefix(c.Title, "Stale") || len(c.Links) != 1 {
		t.Errorf("cut to %+v", c)
	}
}

func TestReportInADigest(t *testing.T) {
	report, push := sample.Report(12, 4), sample.Event(notify.BranchUpdated)
	d := card.NewDigest([]*notify.Event{&report, &push})
	if len(d.Groups) != 1 || d.Groups[0].Lines[0] != (card.Line{
		Text: "Stale *pull requests* & <friends>: 12 open pull requests, 4 inactive",
		URL:  "https://git.example.com/projects/ATL/repos/engine/pull-requests",
	}) {
		t.Errorf("the digest is %+v", d)
	}
}

func TestReportMentionsWhoHasNotApproved(t *testing.T) {
	e := sample.Report(12, 4)
	c := card.New(&e)
	c.Mentions = card.AppendMentions(c.Mentions, &e, map[string]notify.ChatAccount{"grace": {Teams: "grace@example.com"}, "ada": {Teams: "ada@example.com"}}, notify.Teams)
	if len(c.Mentions) != 1 || c.Mentions[0].ID != "grace@example.com" {
		t.Errorf("it mentions %+v", c.Mentions)
	}
}
