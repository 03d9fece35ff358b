package app

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/rest/openapitest"
	"outrigger/internal/secret"
)

// nextOf returns the next of a list by pages of one.
func nextOf(t *testing.T, a *App, list string) string {
	t.Helper()
	status, answer := put(t, a, "GET", list+"?limit=1", "")
	var page struct{ Next string }
	if err := json.Unmarshal([]byte(answer), &page); status != 200 || err != nil {
		t.Fatalf("%s: %d %s", list, status, answer)
	}
	return page.Next
}

// Every list of the REST API refuses a page that it cannot give, and names the
// parameter: a client that goes wrong must not read a list from its beginning for
// ever, or leave half of it out.
func TestEveryRouteRefusesWrongPages(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{
		{Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret")},
		{Name: "other", Kind: config.KindBitbucketDC, BaseURL: "https://git.example.com", WebhookSecret: secret.New("hook secret")},
	}
	a := start(t, cfg)
	lists, err := described(t, a).Operations()
	if err != nil {
		t.Fatal(err)
	}
	lists = slices.DeleteFunc(lists, func(op openapitest.Operation) bool { return !slices.Contains(op.Query, "limit") })
	if len(lists) < 20 {
		t.Fatalf("%d lists", len(lists))
	}
	const users, connections = "/rest/outrigger/1.0/users", "/rest/outrigger/1.0/connections"
	if status, answer := put(t, a, "POST", users, `{"name":"zoe","password":"correct horse"}`); status != 201 {
		t.Fatal(status, answer)
	}
	next := map[string]string{users: nextOf(t, a, users), connections: nextOf(t, a, connections)}
	if next[users] == "" || next[connections] == "" {
		t.Fatalf("nothing to go wrong with: %v", next)
	}
	refuses := func(list, name, value, field string) {
		t.Helper()
		// The example of the description may name the parameters that it needs.
		target, query, _ := strings.Cut(list, "?")
		values, _ := url.ParseQuery(query)
		values.Set(name, value)
		if got := refusedFields(t, a, "GET", target+"?"+values.Encode(), ""); got != field {
			t.Errorf("%s with %s=%s names %q", list, name, value, got)
		}
	}
	for _, list := range lists {
		for _, limit := range []string{"0", "00", "-1", "+1", "1.5", "1e2", "0x10", "ten", "10x", "10 ", " ", "1,000", "\u0661"} {
			refuses(list.URL, "limit", limit, "limit")
		}
		refuses(list.URL, "Limit", "1", "Limit")
		if !slices.Contains(list.Query, "after") {
			continue // it goes by numbers, as its kin elsewhere does
		}
		refuses(list.URL, "limit", "010", "limit")
		foreign := next[users]
		if strings.HasPrefix(list.URL, users) {
			foreign = next[connections]
		}
		for _, after := range []string{"!", "x", "10", "-1", "MTA", "eA", "AAAAAAAA", "null", foreign, foreign + "A", strings.Repeat("QUJD", 5000)} {
			refuses(list.URL, "after", after, "after")
		}
	}
	for list, next := range next {
		if status, answer := put(t, a, "GET", list+"?limit=99999999999999999999&after="+next, ""); status != 200 || !strings.Contains(answer, `"name"`) {
			t.Errorf("%s after its own next: %d %s", list, status, answer)
		}
		for _, after := range []string{next + "A", next + "=", next + "\n", " " + next, next[1:], next[:len(next)-1], strings.ToLower(next)} {
			refuses(list, "after", after, "after")
		}
	}
}
