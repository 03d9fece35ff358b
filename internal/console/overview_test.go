package console

import (
	"context"
	"errors"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

func TestAttentionComesFirst(t *testing.T) {
	body := newSite(t, plainBase).get("/").Body.String()
	attention, cards := strings.Index(body, "Needs attention"), strings.Index(body, "12,480")
	if attention < 0 || cards < attention {
		t.Errorf("attention at %d, figures at %d", attention, cards)
	}
	for _, want := range []string{
		`<li class="bad notice"><div><a href="/notifications/rules/9">The channel Security is broken`,
		`>3 hours ago</time>)</span></div>
      <form method="post" action="/notifications/channels/9/retry"><input type="hidden" name="which" value="all"><button>Try again</button></form></li>`,
		`<li class="warn notice"><div>3 events could not be understood`, // the button has the link
		`<a class="button" href="/notifications/deliveries">Show them</a></li>`,
		`<div><a href="/backup">Sending is paused.</a></div>
      <a class="button" href="/backup/confirm" data-confirm>Start sending</a></li>`,
		`data-live="/overview/live"`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("%s is missing", want)
		}
	}
}

func TestACardThatFailsLeavesTheOthers(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.AddOverview(func(context.Context, *identity.Principal) ([]Card, error) { return nil, errors.New("secret cause") })
	s.c.AddOverview(func(context.Context, *identity.Principal) ([]Card, error) {
		return nil, fault.New(fault.Unavailable, "The mail server does not answer.")
	})
	body := s.get("/").Body.String()
	for _, want := range []string{"12,480", "Referral number", "The mail server does not answer."} {
		if !strings.Contains(body, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if strings.Contains(body, "secret cause") || !strings.Contains(s.log.String(), "secret cause") {
		t.Error("the cause is for the log")
	}
}

// Those who administer everything share the overview's answers, each kind its own;
// others see what is theirs.
func TestWhoSharesTheOverview(t *testing.T) {
	grant := func(p identity.Permission, at identity.Resource) *identity.Principal {
		return &identity.Principal{Grants: []identity.Grant{{Permission: p, Resource: at}}}
	}
	system, global := overviewTopic(grant(identity.SysAdmin, identity.Resource{})), overviewTopic(grant(identity.Admin, identity.Resource{}))
	if system == "" || global == "" || system == global {
		t.Errorf("the topics are %q and %q", system, global)
	}
	for _, p := range []*identity.Principal{nil, {}, grant(identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"})} {
		if topic := overviewTopic(p); topic != "" {
			t.Errorf("%+v shares %q", p, topic)
		}
	}
}

func TestOverviewIsAskedOnceForAll(t *testing.T) {
	s := newSite(t, plainBase)
	var asked atomic.Int64
	s.c.AddOverview(func(context.Context, *identity.Principal) ([]Card, error) { asked.Add(1); return nil, nil })
	x := &exchange{c: s.c, r: httptest.NewRequest("GET", "/overview/live", nil), principal: &identity.Principal{
		Grants: []identity.Grant{{Permission: identity.SysAdmin}},
	}}
	response, err := s.c.liveOverview(x)
	if err != nil {
		t.Fatal(err)
	}
	live := response.(Live)
	live.Every = time.Hour
	for range 20 {
		tab := stream{Live: live, x: x, last: []byte("what its page shows")}
		if html, err := tab.next(t.Context()); err != nil || len(html) == 0 {
			t.Fatalf("%q, %v", html, err)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("the wings were asked %d times for 20 tabs", asked.Load())
	}
}

func TestOverviewOfNothing(t *testing.T) {
	c, err := New(Options{Identity: &sessions{}, BaseURL: plainBase})
	if err != nil {
		t.Fatal(err)
	}
	h, err := c.Handler()
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, c: c, handler: h, base: plainBase}
	if body := s.as("s-ada").get("/").Body.String(); !strings.Contains(body, "Nothing to show yet") {
		t.Error(body)
	}
}
