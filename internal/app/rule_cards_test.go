package app

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The form of a rule draws its cards as the channel that is chosen gets them; a webhook
// URL that is entered counts instead.
func TestRuleFormDrawsTheCardsOfTheChosenChannel(t *testing.T) {
	t.Parallel()
	a := start(t, withConnection(settings(t)))
	var ids []string
	for _, body := range []string{
		`{"name":"slack","format":"slack","webhookUrl":"https://chat.invalid/slack"}`,
		`{"name":"teams","format":"teams","webhookUrl":"https://chat.invalid/teams"}`,
	} {
		var made struct{ ID json.Number }
		status, answer := put(t, a, http.MethodPost, mtbs+"/channels", body)
		if err := json.Unmarshal([]byte(answer), &made); err != nil || status != http.StatusCreated {
			t.Fatalf("%d %s", status, answer)
		}
		ids = append(ids, made.ID.String())
	}
	slack, teams := ids[0], ids[1]
	for _, c := range []struct{ channel, format, url, want string }{
		{slack, "auto", "", "slack"},
		{teams, "auto", "", "teams"},
		{slack, "teams", "", "slack"}, // which is the format of a new channel
		{slack, "auto", "https://chat.invalid/new", "teams"},
		{slack, "slack", "https://chat.invalid/new", "slack"},
		{teams, "auto", "https://hooks.slack.com/services/a/b/c", "slack"},
		{"", "slack", "", "slack"},
		{"4711", "auto", "", "teams"},
	} {
		form := url.Values{"name": {"r"}, "eventTypes": {"TAG_CREATED"}, "channel": {c.channel}, "format": {c.format}, "webhookUrl": {c.url}, "do": {"show"}}
		if status, page := consolePage(t, a, "/notifications/rules/new", form); status != http.StatusOK || !strings.Contains(page, "chat-card "+c.want) {
			t.Errorf("%+v: %d, no card of %s", c, status, c.want)
		}
	}
	for channel, want := range map[string]string{slack: "slack", teams: "teams", "4711": "teams", "'": "teams"} {
		_, part := consolePage(t, a, "/notifications/rules/cards", url.Values{"eventTypes": {"TAG_CREATED"}, "format": {"auto"}, "channel": {channel}})
		if !strings.Contains(part, "chat-card "+want) {
			t.Errorf("the cards on channel %s: %s", channel, part)
		}
	}
}
