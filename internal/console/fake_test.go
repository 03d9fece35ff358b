package console

import (
	"context"
	"embed"
	"errors"
	"net/http"
	"sync/atomic"
	"testing/fstest"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
)

// sessions is an identity with one user: ada, whose password is "canoe" and
// whose session is "s-ada"; her session ends with SignOut.
type sessions struct {
	identitytest.Users // who have no second factor

	now       atomic.Pointer[identity.Principal] // ada, where she is no longer as at first
	over      atomic.Bool                        // her session is
	uses      atomic.Int64                       // of her session by a person
	hidden    atomic.Bool                        // the first steps are, from her
	signedOut []string
	addrs     []string
	err       error // of every call, when set
}

func (s *sessions) FirstStepsHidden(context.Context) (bool, error) { return s.hidden.Load(), s.err }

func (s *sessions) HideFirstSteps(_ context.Context, hidden bool) error {
	s.hidden.Store(hidden)
	return s.err
}

func ada() *identity.Principal {
	return &identity.Principal{UserID: 1, Name: "ada", Source: identity.Local, Scope: identity.All,
		Grants: []identity.Grant{{Permission: identity.Admin}}}
}

func (s *sessions) SignIn(_ context.Context, user, password, addr string) (string, *identity.Principal, error) {
	s.addrs = append(s.addrs, addr)
	switch {
	case s.err != nil:
		return "", nil, s.err
	case user == "busy":
		return "", nil, &fault.Error{Code: fault.RateLimited, Message: "Too many failed sign-ins. Wait 90 seconds.", RetryAfter: 90 * time.Second}
	case user != "ada" || password != "canoe":
		return "", nil, fault.New(fault.Unauthenticated, "Client must be authenticated to access this resource.")
	}
	return "s-ada", ada(), nil
}

func (s *sessions) Session(ctx context.Context, session string) (*identity.Principal, error) {
	if s.err != nil {
		return nil, s.err
	}
	if session != "s-ada" || s.over.Load() {
		return nil, fault.New(fault.Unauthenticated, "Client must be authenticated to access this resource.")
	}
	if identity.Attended(ctx) {
		s.uses.Add(1)
	}
	if now := s.now.Load(); now != nil {
		return now, nil
	}
	return ada(), nil
}

func (s *sessions) SignOut(_ context.Context, session string) error {
	s.signedOut = append(s.signedOut, session)
	return s.err
}

//go:embed testdata/wing
var wingFiles embed.FS

// rule is a row of the sample wing's list.
type rule struct {
	ID       int64
	Name     string
	Channel  string
	Mask     string
	Events   int
	State    Badge
	Enabled  bool
	Updated  time.Time
	UpdateBy string
}

type rulesView struct {
	Rules []rule
	Pager Pager
}

type ruleForm struct {
	*Form
	Mask   string
	Events []Group
	Modes  []Option
}

func ruleGroups() []Group {
	return []Group{
		{Label: "Branches and tags", Options: []Option{{Value: "BRANCH_CREATED", Label: "Branch created"}, {Value: "BRANCH_UPDATED", Label: "Branch updated", Hint: "a push"}, {Value: "BRANCH_DELETED", Label: "Branch deleted"}, {Value: "TAG_CREATED", Label: "Tag created"}}},
		{Label: "Pull requests", Options: []Option{{Value: "PULL_REQUEST_OPENED", Label: "Pull request opened"}, {Value: "PULL_REQUEST_APPROVED", Label: "Pull request approved"}, {Value: "PULL_REQUEST_MERGED", Label: "Pull request merged"}, {Value: "PULL_REQUEST_DECLINED", Label: "Pull request declined"}}},
		{Label: "Builds", Options: []Option{{Value: "BUILD_STATUS_SET", Label: "Build status set"}}},
		{Label: "Repositories and projects", Options: []Option{{Value: "REPOSITORY_FORKED", Label: "Repository forked"}, {Value: "REPOSITORY_SECRET_DETECTED", Label: "Secret detected"}}},
	}
}

var sampleTime = time.Date(2025, 11, 20, 21, 4, 5, 0, time.UTC)

func sampleRules() []rule {
	return []rule{
		{7, "Builds to the release room", "Release room", "https://prod-11.westeurope.logic.azure.com/…/invoke?…sig=••••", 1, Badge{Good, "delivered"}, true, sampleTime, "ada"},
		{8, "Every push to main", "Platform team", "https://hooks.slack.com/…", 2, Badge{Busy, "14 waiting"}, true, sampleTime.Add(-26 * time.Hour), "grace.hopper"},
		{9, "Secrets found <b>anywhere</b>", "Security", "https://prod-24.northeurope.logic.azure.com/…/invoke?…sig=••••", 1, Badge{Bad, "broken"}, true, sampleTime.Add(-99 * time.Hour), "ada"},
		{12, "Pull requests of the payments project", "Payments", "https://prod-11.westeurope.logic.azure.com/…/invoke?…sig=••••", 12, Badge{Warn, "unreachable"}, true, sampleTime.Add(-400 * time.Hour), "linus"},
		{15, "Old announcements", "All hands", "https://hooks.slack.com/…", 4, Badge{Quiet, "disabled"}, false, time.Time{}, "ada"},
	}
}

// sampleWing registers pages of every kind, as a wing does.
func sampleWing(c *Console) {
	c.AddPages(Sub(wingFiles, "testdata/wing"))
	c.AddNav(Nav{Section: "Notifications", Label: "Global rules", Path: "/notifications/rules"})
	c.AddNav(Nav{Section: "Notifications", Label: "Deliveries", Path: "/notifications/deliveries"})
	c.AddNav(Nav{Section: "Notifications", Label: "Events", Path: "/notifications/events"})
	c.AddNav(Nav{Section: "Mail", Label: "Queues", Path: "/mail"})
	c.AddNav(Nav{Section: "System", Label: "Nodes", Path: "/system/nodes", Visible: func(p *identity.Principal) bool { return p.May(identity.Admin, identity.Resource{}) }})
	c.AddNav(Nav{Section: "System", Label: "Users", Path: "/system/users", Visible: func(p *identity.Principal) bool { return p.May(identity.SysAdmin, identity.Resource{}) }})

	admin := Needs(identity.Admin)
	c.Handle("GET /notifications/rules", admin, func(*http.Request) (Response, error) {
		return Page{Template: "rules", Title: "Global rules", Actions: []Action{{"Add a rule", "/notifications/rules/new"}, {"Preview cards", "/notifications/rules/cards"}},
			Tabs: []Tab{{"Global", "/notifications/rules", true}, {"Projects", "/notifications/projects", false}, {"Repositories", "/notifications/repositories", false}},
			Data: rulesView{sampleRules(), Pager{Next: "/notifications/rules?after=abc"}}}, nil
	}, "rules")
	c.Handle("GET /notifications/deliveries", admin, func(*http.Request) (Response, error) {
		return Page{Template: "rules", Title: "Deliveries", Data: rulesView{}}, nil
	}, "rules")

	form := func(f *Form) Page {
		return Page{Template: "rule-form", Title: "New rule", Up: []Link{{"Global rules", "/notifications/rules"}},
			Data: ruleForm{f, "https://prod-11.westeurope.logic.azure.com/…/invoke?…sig=••••", ruleGroups(), []Option{{Value: "auto", Label: "By the URL"}, {Value: "teams", Label: "Teams"}, {Value: "slack", Label: "Slack"}}}}
	}
	c.Handle("GET /notifications/rules/new", admin, func(*http.Request) (Response, error) {
		return form(NewForm().SetBool("enabled", true).Set("format", "auto")), nil
	}, "rule-form")
	c.Handle("POST /notifications/rules/new", admin, func(r *http.Request) (Response, error) {
		f, err := ReadForm(r)
		if err != nil {
			return nil, err
		}
		var wrong fault.Fields
		if f.Get("name") == "" {
			wrong.Add("name", "Give the rule a name.")
		}
		if len(f.All("eventTypes")) == 0 {
			wrong.Add("eventTypes[0]", "Tick at least one event.")
		}
		if f.Get("branchMask") == "release/(" {
			wrong.Add("branchMask", "Unclosed group near index 9.")
		}
		if err := wrong.Err(); err != nil {
			return form(f), err
		}
		return Redirect{To: "/notifications/rules", Flash: "The rule " + f.Get("name") + " is saved."}, nil
	}, "rule-form")
	c.Handle("GET /notifications/rules/{id}/delete", admin, func(r *http.Request) (Response, error) {
		return Confirm{Title: "Delete the rule “Builds to the release room”?", Text: "Its events are no longer sent to Release room. This cannot be undone.",
			Losses: []string{"the rule and its filters", "14 messages that wait for its channel"}, Verb: "Delete the rule", Keep: "Keep the rule", Back: "/notifications/rules"}, nil
	})
	c.Handle("POST /notifications/rules/{id}/delete", admin, func(r *http.Request) (Response, error) {
		return Redirect{To: "/notifications/rules", Flash: "The rule is deleted."}, nil
	})
	c.Handle("GET /fault/{code}", admin, func(r *http.Request) (Response, error) {
		if code := fault.Code(r.PathValue("code")); code != fault.Internal {
			return nil, fault.New(code, "It is %s.", code)
		}
		return nil, errors.New("secret cause")
	})
	c.AddOverview(func(context.Context, *identity.Principal) ([]Card, error) {
		return []Card{
			{Title: "Notifications", Link: "/notifications/deliveries", Service: true, Figures: []Figure{{"delivered in 24 h", "12,480", "", "/notifications/deliveries?state=delivered"}, {"waiting", "14", "", ""}, {"failed", "3", Warn, ""}, {"broken channels", "1", Bad, ""}},
				Attention: []Notice{{Text: "The channel Security is broken: “The trigger is not enabled.” 12 messages wait.", Link: "/notifications/rules/9", Tone: Bad, Since: time.Now().Add(-3 * time.Hour), Remedy: Remedy{Label: "Try again", Of: "Security", Path: "/notifications/channels/9/retry", Posts: []Hidden{{"which", "all"}}}}, {Text: "3 events could not be understood in the last 24 hours.", Remedy: Remedy{Label: "Show them", Path: "/notifications/deliveries"}}, {Text: "Sending is paused.", Link: "/backup", Remedy: Remedy{Label: "Start sending", Path: "/backup/confirm", Asks: true}}}},
			{Title: "Mail", Link: "/mail", Service: true, Figures: []Figure{{"waiting", "1,204", "", ""}, {"in error", "0", Good, ""}}},
			{Title: "Threaded comments", Link: "/threads", Service: true, Text: "No migration yet."},
		}, nil
	})
}

// wingOf is a wing of pages given as text.
func wingOf(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}
