package card_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
)

// Only reviewers with an account in the chat are mentioned, by names that are no
// markup and differ.
func TestMention(t *testing.T) {
	e := sample.Event(notify.PullRequestOpened)
	e.Reviewers = []notify.User{
		{Name: "grace", DisplayName: "Grace Hopper"}, {Name: "nobody"}, {Name: "Grace2", DisplayName: "Grace  Hopper"},
		{Name: "odd", DisplayName: `</at> *x* [y](z) "&`}, {Name: "zoë", DisplayName: "Zoë O'Neil-Мир"}, {Name: "s"}, {Name: "e", DisplayName: "***"},
	}
	accounts := map[string]notify.ChatAccount{}
	for _, name := range []string{"grace", "grace2", "odd", "zoë", "e"} {
		accounts[name] = notify.ChatAccount{User: name, Teams: name + "@example.com"}
	}
	accounts["s"] = notify.ChatAccount{User: "s", Slack: "U012AB3CD"}
	got := card.AppendMentions(nil, &e, accounts, notify.Teams)
	want := []card.Mention{
		{Name: "Grace Hopper", ID: "grace@example.com"}, {Name: "Grace Hopper 2", ID: "grace2@example.com"},
		{Name: "at x y z", ID: "odd@example.com"}, {Name: "Zoë O'Neil-Мир", ID: "zoë@example.com"}, {Name: "reviewer", ID: "e@example.com"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if again := card.AppendMentions(got, &e, accounts, notify.Teams); len(again) != len(want) {
		t.Errorf("mentioned twice: %v", again)
	}
	got = card.AppendMentions(nil, &e, accounts, notify.Slack)
	if d := cmp.Diff([]card.Mention{{Name: "s", ID: "U012AB3CD"}}, got); d != "" {
		t.Error(d)
	}
}
