package console

import (
	"context"
	"net/url"
	"strings"
	"testing"
)

// A search finds pages and what the wings find, for its reader alone; whatever is
// typed is text.
func TestFind(t *testing.T) {
	s := newSite(t, plainBase)
	var asked []string
	s.c.AddFinder(func(_ context.Context, query string) ([]Found, error) {
		asked = append(asked, query)
		return []Found{{Kind: "Rule", Label: "<b>" + query, Where: "everywhere", Path: "/notifications/rules/7"}}, nil
	})
	body := s.get("/find?q=" + url.QueryEscape(" e ")).Body.String()
	for _, want := range []string{`href="/notifications/rules/7"`, "&lt;b&gt;e", `href="/notifications/events"`, `href="/system/nodes"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, "/system/users") || len(asked) != 1 || asked[0] != "e" {
		t.Errorf("it finds what the reader may not see, or asked for %q", asked)
	}
	if body := s.get("/find").Body.String(); !strings.Contains(body, `href="/mail"`) || len(asked) != 1 {
		t.Error("without a query, the pages are listed and no wing is asked")
	}
	if w := s.get("/find?q=" + strings.Repeat("x", 201)); w.Code != 400 {
		t.Errorf("a long query: %d", w.Code)
	}
	if w := s.as("").get("/find?q=e"); w.Code != 303 {
		t.Errorf("signed out: %d", w.Code)
	}
}

func TestFindIsLimited(t *testing.T) {
	s := newSite(t, plainBase)
	codes := map[int]int{}
	for range findsAMinute + 5 {
		codes[s.get("/find?q=x").Code]++
	}
	if codes[200] < findsAMinute || codes[429] == 0 || codes[200]+codes[429] != findsAMinute+5 {
		t.Errorf("%v", codes)
	}
}

// What needs attention has its number beside the entry that leads to it, and System
// is folded until it is used.
func TestNavigationSaysWhatNeedsAttention(t *testing.T) {
	s := newSite(t, plainBase)
	body := s.get("/notifications/rules").Body.String()
	if strings.Count(body, `Global rules <span class="count">1<span class="unseen"> needs attention</span></span>`) != 2 {
		t.Error("the rule that needs attention is not counted at the side and in the menu")
	}
	if !strings.Contains(body, `<details class="fold">`) || strings.Contains(body, `<details class="fold" open>`) {
		t.Error("System is not folded")
	}
	if strings.LastIndex(body, `/system/nodes`) < strings.LastIndex(body, `href="/mail"`) {
		t.Error("System is not last")
	}
}
