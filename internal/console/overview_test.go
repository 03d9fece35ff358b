package console

import (
	"context"
	"errors"
	"net/http/httptest"
	"net/url"
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
<form method="post" action="/notifications/channels/9/retry"><input type="hidden" name="which" value="all"><button type="submit">Try again<span class="unseen">: Security</span></button></form></li>`,
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
	system, global := overviewTopic(grant(identity.SysAdmin, identity.Resource{}), false), overviewTopic(grant(identity.Admin, identity.Resource{}), false)
	if system == "" || global == "" || system == global {
		t.Errorf("the topics are %q and %q", system, global)
	}
	for _, p := range []*identity.Principal{nil, {}, grant(identity.ProjectAdmin, identity.Resource{Connection: "main", Project: "ATL"})} {
		if topic := overviewTopic(p, false); topic != "" {
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

func TestHowThingsStand(t *testing.T) {
	bad, warn := Notice{Tone: Bad}, Notice{Tone: Warn}
	for want, list := range map[Badge][]Notice{
		{Good, "Everything works. Nothing needs your attention."}:         nil,
		{Warn, "One thing needs your attention."}:                         {warn},
		{Warn, "2 things need your attention."}:                           {warn, warn},
		{Bad, "One thing does not work."}:                                 {bad},
		{Bad, "2 things do not work, and one more needs your attention."}: {bad, warn, bad},
		{Bad, "One thing does not work, and 2 more need your attention."}: {warn, bad, warn},
	} {
		if got := (overviewView{Attention: list}).Standing(); got != want {
			t.Errorf("%+v: %+v, want %+v", list, got, want)
		}
	}
}

// What waits for a later try is said with how things stand, and is no reason for
// attention.
func TestWhatWaitsIsNoAlarm(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.overview = nil
	s.c.AddOverview(func(context.Context, *identity.Principal) ([]Card, error) {
		return []Card{{Title: "Kites", Service: true, Pending: Link{Label: "2 kites wait: the next wind is in 20 s.", Path: "/kites"}}, {Title: "Boats", Service: true}}, nil
	})
	body := s.get("/").Body.String()
	const want = `<p class="health good"><span role="status">Nothing needs your attention.</span> <a href="/kites">2 kites wait: the next wind is in 20 s.</a></p>`
	if !strings.Contains(body, want) {
		t.Errorf("%s is missing in\n%s", want, body)
	}
}

// The first steps of a service stand there as far as they are to be done; who
// dismisses them can have them back.
func TestFirstStepsAreDismissed(t *testing.T) {
	s := newSite(t, plainBase)
	s.c.AddOverview(func(context.Context, *identity.Principal) ([]Card, error) {
		return []Card{
			{Title: "Weather", Service: true, Steps: []Step{{Text: "Look out", Done: true}, {Text: "Put up a vane", Link: "/vane", Copy: "vane up"}}},
			{Title: "Tides", Service: true, Steps: []Step{{Text: "Find the sea", Done: true}}},
		}, nil
	})
	shown := s.get("/").Body.String()
	for _, want := range []string{"1 of 2 done", `<a href="/vane">Put up a vane</a>`, `data-copy="vane up"`} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if strings.Contains(shown, "Look out") || strings.Contains(shown, "Find the sea") {
		t.Errorf("what is done is still to be done:\n%s", shown)
	}
	for _, c := range []struct {
		choose       string
		shown, offer string
	}{{"hidden", "", "Show the first steps"}, {"hidden", "", "Show the first steps"}, {"shown", "Put up a vane", "Hide the first steps"}} {
		if chosen := s.send("POST", "/overview/steps", url.Values{"steps": {c.choose}}); chosen.Code != 303 || len(chosen.Result().Cookies()) > 0 {
			t.Fatalf("%s: %d %v", c.choose, chosen.Code, chosen.Result().Cookies())
		}
		body := s.get("/").Body.String()
		if strings.Contains(body, "Put up a vane") != (c.shown != "") || !strings.Contains(body, c.offer) {
			t.Errorf("%s:\n%s", c.choose, body)
		}
	}
}
