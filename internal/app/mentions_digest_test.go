package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card/sample"
)

// What is sent although a filter could not be checked says so in a digest too.
func TestADigestMarksWhatWasNotChecked(t *testing.T) {
	a := startWithChat(t)
	const mark = "(sent although not all filters could be checked)"
	for _, format := range []notify.Format{notify.Teams, notify.Slack} {
		var deliveries []*notify.Delivery
		for _, note := range []string{"", "Sent although “Groups” of the rule “x” could not be checked."} {
			e := sample.Event(notify.PullRequestOpened)
			e.PullRequest.Title = strings.Repeat("long ", 60)
			deliveries = append(deliveries, &notify.Delivery{Format: format, Event: &e, Note: note})
		}
		text, taken := a.writeDigest(t.Context(), deliveries)
		if taken != 2 || strings.Count(string(text), mark) != 1 {
			t.Errorf("%s: %d events in %s", format, taken, text)
		}
	}
}

// A digest mentions the reviewers of those of its events that a rule took which
// mentions reviewers, each once.
func TestADigestMentionsReviewers(t *testing.T) {
	a := startWithChat(t)
	status, v := importCSV(t, a, "user,teams,slack\ngrace,grace@example.com,U012AB3CD\nalan,alan@example.com,U0ALAN000\n")
	if status != 200 {
		t.Fatalf("import: %d %s", status, v)
	}
	var rules [2]int64 // the second one mentions
	for i, member := range []string{"", `,"mentionReviewers":true`} {
		if _, err := fmt.Sscan(makeRule(t, a, `"name":"x","eventTypes":["PULL_REQUEST_OPENED"]`+member), &rules[i]); err != nil {
			t.Fatal(err)
		}
	}
	of := func(rule int64, format notify.Format, reviewer string) *notify.Delivery {
		e := sample.Event(notify.PullRequestOpened)
		e.Connection, e.At, e.Reviewers = "main", time.Now(), []notify.User{{Name: reviewer, DisplayName: strings.ToUpper(reviewer)}}
		return &notify.Delivery{Rules: []int64{rule}, Format: format, Event: &e}
	}
	for format, want := range map[notify.Format]string{
		notify.Teams: `"Reviewers: <at>GRACE</at>"`, notify.Slack: `"Reviewers: <@U012AB3CD>"`,
	} {
		text, taken := a.writeDigest(t.Context(), []*notify.Delivery{
			of(rules[0], format, "alan"), of(rules[1], format, "grace"), of(rules[1], format, "grace"), of(rules[1], format, "nobody"),
		})
		if taken != 4 || !json.Valid(text) {
			t.Fatalf("%d events: %s", taken, text)
		}
		if strings.Count(string(text), want) != 1 || strings.Contains(string(text), "alan@") || strings.Contains(string(text), "U0ALAN000") {
			t.Errorf("%s: %s", format, text)
		}
		if format == notify.Teams && !strings.Contains(string(text), `"entities":[{"type":"mention","text":"<at>GRACE</at>","mentioned":{"id":"grace@example.com","name":"GRACE"}}]`) {
			t.Errorf("no entity: %s", text)
		}
		if text, _ := a.writeDigest(t.Context(), []*notify.Delivery{of(rules[0], format, "alan"), of(rules[0], format, "grace")}); strings.Contains(string(text), "Reviewers") {
			t.Errorf("%s, of a rule that mentions nobody: %s", format, text)
		}
	}
}
