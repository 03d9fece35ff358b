package smtpclient

import (
	"context"
	"net"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
	"outrigger/internal/secret"
)

// names are the steps, those that failed marked.
func names(steps []mailqueue.CheckStep) string {
	var list []string
	for _, s := range steps {
		if s.Error != "" {
			s.Name += "!"
		} else if s.Answer == "" {
			s.Name += "?"
		}
		list = append(list, s.Name)
	}
	return strings.Join(list, " ")
}

// A check shows each step up to the one that fails, sends only where it is told
// to, and shows no secret.
func TestCheck(t *testing.T) {
	server, client := underTLS(t)
	host := smarthost.New(smarthost.Options{TLS: server, User: "ann@example.com", Password: "hunter2", React: func(r smarthost.Request) *smarthost.Reaction {
		if strings.Contains(r.Line, "nobody") {
			return &smarthost.Reaction{Reply: "550 5.1.1 No such user"}
		}
		return nil
	}})
	defer host.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = host.Serve(l) }()
	const upToSignIn = "resolve connect greeting EHLO STARTTLS TLS EHLO sign-in"
	for _, test := range []struct {
		name, to string
		edit     func(*Smarthost)
		want     string
		says     string
		arrives  int64
	}{
		{"nothing is sent", "", func(*Smarthost) {}, upToSignIn, "235 2.7.0 Welcome", 0},
		{"a message", "b@example.com", func(*Smarthost) {}, upToSignIn + " MAIL FROM:<ann@example.com> RCPT TO:<b@example.com> message", "250 2.0.0 Taken", 1},
		{"refused", "nobody@example.com", func(*Smarthost) {}, upToSignIn + " MAIL FROM:<ann@example.com> RCPT TO:<nobody@example.com>!", "550 5.1.1 No such user", 0},
		{"a wrong password", "b@example.com", func(h *Smarthost) { h.Password = secret.New("hunter3") }, upToSignIn + "!", "535 5.7.8", 0},
		{"an unknown name", "", func(h *Smarthost) { h.Address = "smtp.invalid:25" }, "resolve!", "cannot be resolved", 0},
		{"nothing there", "", func(h *Smarthost) { h.Address = "127.0.0.1:1" }, "resolve connect!", "connection refused", 0},
		{"a certificate that is not trusted", "", func(h *Smarthost) { h.Config = nil }, "resolve connect greeting EHLO STARTTLS TLS!", "failed at TLS", 0},
		{"no token", "", func(h *Smarthost) {
			h.Token = func(context.Context) (secret.Value, error) {
				return secret.Value{}, fault.New(fault.Unavailable, "AADSTS7000215")
			}
		}, "resolve connect greeting EHLO STARTTLS TLS EHLO token!", "offers no way to sign in with a token", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := &Smarthost{Address: l.Addr().String(), TLS: StartTLS, Config: client, Hostname: "relay.example", User: "ann@example.com", Password: secret.New("hunter2")}
			test.edit(h)
			before := host.Count()
			steps, err := h.Check(t.Context(), "", test.to)
			if err != nil || names(steps) != test.want {
				t.Fatalf("%s, %v", names(steps), err)
			}
			if last := steps[len(steps)-1]; !strings.Contains(last.Answer+last.Error, test.says) {
				t.Errorf("%+v", last)
			}
			for _, s := range steps {
				if strings.Contains(s.Answer+s.Error, "hunter") {
					t.Errorf("a secret is shown: %+v", s)
				}
			}
			if host.Count()-before != test.arrives {
				t.Errorf("%d messages arrived", host.Count()-before)
			}
		})
	}
	if _, err := new(Smarthost).Check(t.Context(), "", "no address"); !fault.Is(err, fault.Invalid) {
		t.Error(err)
	}
}
