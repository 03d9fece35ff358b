package relay

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"

	"outrigger/internal/config"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/relay/smtpclient"
	bearer "outrigger/internal/mailqueue/relay/token"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/playground/tokens"
	"outrigger/internal/secret"
)

// tokenNight is a smarthost that takes tokens within TLS, and their provider.
type tokenNight struct {
	provider *tokens.Provider
	source   *bearer.Source

	mu       sync.Mutex
	signedIn map[int]string // tokens, by session
	expelled bool           // the smarthost looks at the token at each MAIL
	refuses  bool           // at MAIL
}

func (n *tokenNight) set(change func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	change()
}

// Do has the provider asked without a network.
func (n *tokenNight) Do(req *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	n.provider.ServeHTTP(w, req)
	return w.Result(), nil
}

func (n *tokenNight) react(r smarthost.Request) *smarthost.Reaction {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch r.Verb {
	case "AUTH":
		raw, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(r.Line, "AUTH XOAUTH2 "))
		_, shown, _ := strings.Cut(strings.Trim(string(raw), "\x01"), "auth=Bearer ")
		if !n.provider.Valid(shown) {
			return &smarthost.Reaction{Reply: "535 5.7.3 Authentication unsuccessful"}
		}
		n.signedIn[r.Session] = shown
		return &smarthost.Reaction{Reply: "235 2.7.0 Welcome"}
	case "MAIL":
		if shown := n.signedIn[r.Session]; n.refuses || shown == "" || n.expelled && !n.provider.Valid(shown) {
			return &smarthost.Reaction{Reply: "535 5.7.8 Sign in again"}
		}
	}
	return nil
}

// byToken runs fn while a relay sends with tokens.
func byToken(t *testing.T, o tokens.Options, fn func(*testing.T, *night, *tokenNight)) {
	t.Helper()
	certified := httptest.NewTLSServer(nil)
	host, roots := &tls.Config{Certificates: certified.TLS.Certificates}, x509.NewCertPool()
	roots.AddCert(certified.Certificate())
	certified.Close()
	o.ClientID, o.Secret, o.Mailbox = "app", "right", "ann@example.com"
	tn := &tokenNight{provider: tokens.New(o), signedIn: make(map[int]string)}
	world := setup{
		host: smarthost.Options{TLS: host, Offers: []string{"PIPELINING", "SIZE 0", "ENHANCEDSTATUSCODES", "AUTH XOAUTH2"}, React: tn.react},
		sender: func(o *SenderOptions) {
			h := o.Smarthost
			h.TLS, h.Config, h.User = smtpclient.StartTLS, &tls.Config{RootCAs: roots}, "ann@example.com"
			h.Token = func(ctx context.Context) (secret.Value, error) { return tn.source.Token(ctx) }
			h.Refused = func(shown secret.Value) { tn.source.Refused(shown) }
		},
	}
	atNight(t, world, func(t *testing.T, n *night) {
		tn.source = bearer.New(bearer.Options{
			MailOAuth: config.MailOAuth{
				TokenURL: "https://login.example/token", ClientID: "app", ClientSecret: secret.New("right"), Grant: config.ClientCredentials,
			},
			Client: tn, DB: n.db, Leases: n.leases,
		})
		fn(t, n, tn)
	})
}

// While there is no token, sending pauses in the provider's words: no message has
// an attempt, none is given up, however long; and it goes on by itself.
func TestNoTokenPausesSending(t *testing.T) {
	byToken(t, tokens.Options{}, func(t *testing.T, n *night, tn *tokenNight) {
		tn.provider.SetSecret("")
		n.together(func() {
			for range 20 {
				n.add("b@example.com", "c@example.com")
			}
		})
		n.after(2 * 24 * time.Hour)
		n.sizes(20, 0)
		const want = "No token for the smarthost: login.example answered 401: invalid_client: AADSTS7000215: Invalid client secret provided. Trace ID: 1."
		if _, why := n.held(); why != want {
			t.Errorf("held for %q", why)
		}
		for _, id := range n.ids(mailqueue.MessageFilter{}) {
			if done := n.attempts(id); len(done) != 0 {
				t.Errorf("message %d has attempts: %+v", id, done)
			}
		}
		if asked := tn.provider.Asked(); asked > 2*24*12+10 { // a pause is 5 min at last
			t.Errorf("asked %d times", asked)
		}
		tn.provider.SetSecret("right")
		n.after(5*time.Minute + time.Second)
		n.sizes(0, 0)
		if n.host.Count() != 20 {
			t.Errorf("%d messages arrived", n.host.Count())
		}
	})
}

// A token that ends while its session is kept costs no message an attempt, whether
// the smarthost hangs up or wants another sign-in; and one that ends in memory is
// replaced at the next sign-in.
func TestATokenEndsInMidSession(t *testing.T) {
	for name, expelled := range map[string]bool{"at MAIL": true, "at the next sign-in": false} {
		t.Run(name, func(t *testing.T) {
			byToken(t, tokens.Options{}, func(t *testing.T, n *night, tn *tokenNight) {
				tn.set(func() { tn.expelled = expelled })
				for round := range 5 {
					n.together(func() {
						for range 10 {
							n.add("b@example.com")
						}
					})
					n.after(10 * time.Second)
					n.sizes(0, 0)
					if n.host.Count() != int64(10*(round+1)) {
						t.Fatalf("%d messages arrived", n.host.Count())
					}
					tn.provider.EndTokens()
					if !expelled {
						n.after(2 * time.Minute) // sessions end
					}
				}
				if asked := tn.provider.Asked(); asked > 5 {
					t.Errorf("asked %d times for 5 tokens", asked)
				}
				if deferred := testutil.ToFloat64(n.queue.metrics.deferred); deferred != 0 {
					t.Errorf("%v attempts were deferred", deferred)
				}
			})
		})
	}
}

// A smarthost that takes the sign-in and refuses who is signed in at MAIL is
// answered like any that defers: after three in a row sending pauses. With a
// provider's limits too.
func TestSignedInAndRefused(t *testing.T) {
	for name, limits := range map[string]Limits{
		"without limits": {},
		"with limits":    {SignIn: "mail.example.com:587 ann", Provider: "microsoft365", Connections: 3, Rate: 600, Quota: 1000},
	} {
		t.Run(name, func(t *testing.T) {
			byToken(t, tokens.Options{}, func(t *testing.T, n *night, tn *tokenNight) {
				o := n.sender.o
				o.Limits = limits
				n.sender.Stop()
				n.sender = NewSender(n.queue, o)
				must(t, n.sender.Start(t.Context()))
				signedInAndRefused(t, n, tn)
			})
		})
	}
}

func signedInAndRefused(t *testing.T, n *night, tn *tokenNight) {
	t.Helper()
	tn.set(func() { tn.refuses = true })
	n.together(func() {
		for i := range 10 {
			n.addFrom(string(rune('a'+i))+"@example.com", "b@example.com")
		}
	})
	n.after(4 * time.Minute)
	n.sizes(10, 0)
	if _, why := n.held(); !strings.HasSuffix(why, "answered MAIL with 535 5.7.8 Sign in again.") {
		t.Errorf("held for %q", why)
	}
	if asked := tn.provider.Asked(); asked > 30 {
		t.Errorf("asked %d times in 4 minutes", asked)
	}
	tn.set(func() { tn.refuses = false })
	n.after(time.Hour)
	n.sizes(0, 0)
	if n.host.Count() != 10 {
		t.Errorf("%d messages arrived", n.host.Count())
	}
}
