package client

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucket"
	"outrigger/internal/playground/playgroundtest"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// played is a client of a played platform.
type played struct {
	*Client
	platform *playgroundtest.Bitbucket
	c        *notify.Connection
	now      time.Time
}

func play(t *testing.T, o bitbucket.Options) *played {
	t.Helper()
	if o.Token == "" {
		o.Token = "right"
	}
	p := &played{platform: playgroundtest.NewBitbucket(o), now: time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)}
	server := httptest.NewServer(p.platform.Handler())
	t.Cleanup(server.Close)
	out := egresstest.Client(t)
	p.Client = New(out.Trusted(), func() time.Time { return p.now })
	p.c = &notify.Connection{Name: "main", BaseURL: server.URL + "/", Token: secret.New(o.Token)}
	return p
}

var people = bitbucket.Options{
	MaxPage: 2,
	Users: []bitbucket.User{
		{Name: "annabel", DisplayName: "Annabel"}, {Name: "joanna", DisplayName: "Joanna"}, {Name: "hanna", Email: "ann@example.com"},
		{Name: "ann", DisplayName: "Ann", Password: "right"}, {Name: "bob", DisplayName: "Robert Annan"},
	},
	Groups: map[string][]string{
		"developers": {"annabel", "joanna", "hanna", "ann", "bob"}, "almost": {"annabel", "joanna", "hanna"}, "R&D/è ops": {"ann"},
	},
}

func TestVersion(t *testing.T) {
	p := play(t, people)
	for name, c := range map[string]struct{ user, token, want string }{
		"without credentials": {"", "", "Bitbucket 9.4.2"},
		"a token":             {"", "right", "Bitbucket 9.4.2"},
		"a user":              {"ann", "right", "Bitbucket 9.4.2"},
		"a wrong token":       {"", "wrong", "answers 401 Unauthorized, Authentication failed. Please check your credentials and try again. Check the user"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := p.Version(t.Context(), &notify.Connection{Name: name, BaseURL: p.c.BaseURL, User: c.user, Token: secret.New(c.token)})
			if err == nil && got != c.want || err != nil && (!fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%q, %v; want %q", got, err, c.want)
			}
		})
	}
	_, err := p.Version(t.Context(), &notify.Connection{Name: "none", BaseURL: "http://127.0.0.1:1"})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "connection refused") {
		t.Errorf("nothing listens: %v", err)
	}
}

func TestMember(t *testing.T) {
	p := play(t, people)
	for _, c := range []struct {
		user, group string
		want        bool
	}{
		{"ann", "developers", true}, // on the second page: the filter finds others first
		{"ANN", "developers", true},
		{"ann", "almost", false}, // the filter finds annabel, joanna and hanna
		{"nn", "developers", false},
		{"ann@example.com", "developers", false}, // hanna's address
		{"ann", "R&D/è ops", true},
		{"bob", "R&D/è ops", false},
		{"ann", "no such group", false},
	} {
		if got, err := p.Member(t.Context(), p.c, c.user, c.group); got != c.want || err != nil {
			t.Errorf("%s in %s: %v, %v", c.user, c.group, got, err)
		}
	}
}

// Whatever the platform answers, the client ends, with an error that says what
// it was.
func TestFaults(t *testing.T) {
	for kind, want := range map[playgroundtest.Kind]string{
		playgroundtest.Endless:     "pages that do not end",
		playgroundtest.Inventing:   "pages that do not end",
		playgroundtest.Repeating:   "repeats its pages",
		playgroundtest.Standing:    "repeats its pages",
		playgroundtest.Ragged:      "repeats its pages",
		playgroundtest.Refusing:    "401 Unauthorized, Authentication failed",
		playgroundtest.Forbidding:  "403 Forbidden, You are not permitted to access this resource. Give the connection's account",
		playgroundtest.Withholding: "401 Unauthorized, You are not permitted to access this resource. Give the connection's account",
		playgroundtest.Throttling:  "429 Too Many Requests, Rate limit exceeded",
		playgroundtest.Broken:      "500 Internal Server Error, An error occurred",
		playgroundtest.Missing:     "404 Not Found",
		playgroundtest.Proxied:     "is not the platform",
		playgroundtest.Garbling:    "is not the platform",
		playgroundtest.Chattering:  "more than 4 MiB",
		playgroundtest.Redirecting: "302 Found. Check the base URL",
		playgroundtest.Dropping:    "closed the connection without an answer",
	} {
		t.Run(string(kind), func(t *testing.T) {
			p := play(t, people)
			p.platform.SetFault("/users", playgroundtest.Fault{Kind: kind})
			got, err := p.Member(t.Context(), p.c, "zoe", "developers")
			if kind == playgroundtest.Repeating || kind == playgroundtest.Standing || kind == playgroundtest.Ragged {
				got, err = p.Member(t.Context(), p.c, "nn", "developers") // a filter that finds another user
			}
			if got || !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, want) {
				t.Errorf("%v, %v; want %q", got, err, want)
			}
			if n := p.platform.Asked("/users"); n > maxPages+1 {
				t.Errorf("it was asked %d times", n)
			}
		})
	}
}

func TestNoAnswerAtAll(t *testing.T) {
	p := play(t, people)
	p.platform.SetFault("", playgroundtest.Fault{Kind: playgroundtest.Silent})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.Member(ctx, p.c, "ann", "developers"); !fault.Is(err, fault.Unavailable) {
		t.Errorf("%v", err)
	}
}

// A platform that asks for a pause gets one, and one that does not know the
// account is not asked until it locks it.
func TestPauses(t *testing.T) {
	for name, c := range map[string]struct {
		fault playgroundtest.Fault
		pause time.Duration
	}{
		"429 with Retry-After":    {playgroundtest.Fault{Kind: playgroundtest.Throttling, RetryAfter: "30"}, 30 * time.Second},
		"429 with no Retry-After": {playgroundtest.Fault{Kind: playgroundtest.Throttling}, time.Minute},
		"401":                     {playgroundtest.Fault{Kind: playgroundtest.Refusing}, 10 * time.Minute},
		"401 for a permission":    {playgroundtest.Fault{Kind: playgroundtest.Withholding}, 0},
		"403":                     {playgroundtest.Fault{Kind: playgroundtest.Forbidding}, 0},
		"500":                     {playgroundtest.Fault{Kind: playgroundtest.Broken}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := play(t, people)
			p.platform.SetFault("", c.fault)
			ask := func() error {
				_, err := p.Member(t.Context(), p.c, "ann", "developers")
				return err
			}
			if err := ask(); fault.As(err).RetryAfter != c.pause {
				t.Fatalf("retry after %s: %v", fault.As(err).RetryAfter, err)
			}
			p.platform.SetFault("", playgroundtest.Fault{})
			if c.pause > 0 {
				p.now = p.now.Add(c.pause - time.Second)
				if err := ask(); !fault.Is(err, fault.Unavailable) || fault.As(err).RetryAfter != time.Second || p.platform.Asked("") != 1 {
					t.Errorf("asked %d times: %v", p.platform.Asked(""), err)
				}
				other := *p.c
				other.User, other.Token = "ann", secret.New("right")
				if _, err := p.Version(t.Context(), &other); err != nil {
					t.Errorf("another account: %v", err)
				}
				p.now = p.now.Add(time.Second)
			}
			if err := ask(); err != nil {
				t.Errorf("after the pause: %v", err)
			}
		})
	}
}
