package relay

import (
	"context"
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/mailqueue/relay/smtpd"
	"outrigger/internal/mailqueue/relay/smtptest"
)

const (
	rcpt = "RCPT TO:<b@example.com>\r\n"
	data = "MAIL FROM:<a@example.com>\r\n" + rcpt + "DATA\r\n"
	head = "Subject: x\r\n\r\n"
	end  = "\r\n.\r\n"
)

// certificate is a server's, and what a client trusts for it.
func certificate(t testing.TB) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	trusted := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: trusted, ServerName: "127.0.0.1"}
}

// users are those who may sign in, by name and password or token.
type users struct {
	identitytest.Users
	known map[string]*identity.Principal
	err   error
}

func (u users) Basic(_ context.Context, user, password, addr string) (*identity.Principal, error) {
	if u.err != nil {
		return nil, u.err
	}
	if addr != "127.0.0.1" {
		return nil, fault.New(fault.Internal, "The address is %s.", addr)
	}
	if p := u.known[user+":"+password]; p != nil {
		return p, nil
	}
	return nil, identity.ErrUnauthenticated()
}

var someUsers = users{known: map[string]*identity.Principal{
	"ann:mail-token":    {Name: "ann", Token: 1, Scope: identity.Mail},
	"ann:all-token":     {Name: "ann", Token: 2, Scope: identity.All},
	"admin:all-token":   {Name: "admin", Token: 5, Scope: identity.All, Grants: []identity.Grant{{Permission: identity.Admin}}},
	"admin:read-token":  {Name: "admin", Token: 6, Scope: identity.Read, Grants: []identity.Grant{{Permission: identity.Admin}}},
	"admin:password":    {Name: "admin", Scope: identity.All, Grants: []identity.Grant{{Permission: identity.Admin}}},
	"ann:read-token":    {Name: "ann", Token: 3, Scope: identity.Read},
	"ann:password":      {Name: "ann", Scope: identity.All},
	"ann:monitor-token": {Name: "ann", Token: 4, Scope: identity.Monitoring},
}}

// A token of scope mail signs in, and an administrator's of scope all; nothing else
// does.
func TestSignIn(t *testing.T) {
	in := NewIntake(nil, IntakeOptions{Identity: someUsers})
	for _, c := range []struct{ user, token, name, says string }{
		{"ann", "mail-token", "ann", ""},
		{"ann", "all-token", "", "535 5.7.8"},
		{"admin", "all-token", "admin", ""},
		{"admin", "read-token", "", "535 5.7.8"},
		{"admin", "password", "", "535 5.7.8"},
		{"ann", "read-token", "", "535 5.7.8"},
		{"ann", "monitor-token", "", "535 5.7.8"},
		{"ann", "password", "", "535 5.7.8"},
		{"ann", "x", "", "535 5.7.8"},
		{"ann", "", "", "535 5.7.8"},
		{"", "mail-token", "", "535 5.7.8"},
	} {
		name, err := in.SignIn(t.Context(), c.user, c.token, "127.0.0.1")
		if name != c.name || (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%s with %s: %q, %v", c.user, c.token, name, err)
		}
	}
	for err, says := range map[error]string{
		fault.New(fault.RateLimited, "Too often."):                    "454 4.7.0",
		fault.New(fault.Unavailable, "The database does not answer."): "The database does not answer.",
	} {
		in := NewIntake(nil, IntakeOptions{Identity: users{err: err}})
		if _, got := in.SignIn(t.Context(), "ann", "mail-token", "127.0.0.1"); got == nil || !strings.HasPrefix(got.Error(), says) {
			t.Errorf("%v: %v", err, got)
		}
	}
	if _, err := NewIntake(nil, IntakeOptions{}).SignIn(t.Context(), "ann", "mail-token", "127.0.0.1"); err == nil {
		t.Error("without users ann may sign in")
	}
}

// How a message came is in its Received: line.
func TestTrace(t *testing.T) {
	for with, env := range map[string]smtpd.Envelope{
		"SMTP":       {},
		"ESMTP":      {Extended: true},
		"ESMTPS":     {Extended: true, TLS: true},
		"ESMTPSA":    {Extended: true, TLS: true, User: "ann"},
		"UTF8SMTPSA": {Extended: true, TLS: true, User: "ann", UTF8: true},
	} {
		env.Address, env.Hello = "2001:db8::1", "client.example"
		m := &incoming{intake: NewIntake(nil, IntakeOptions{Hostname: "relay.example"}), env: env}
		want := "Received: from client.example ([IPv6:2001:db8::1])\r\n\tby relay.example (Outrigger) with " + with
		if got := m.trace(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A message with more than 50 Received: lines is going in circles.
func TestCircles(t *testing.T) {
	w := newWorld(t, sqlite(t), setup{noSend: true})
	hop := "received: x\r\n"
	for _, c := range []struct{ text, want string }{
		{strings.Repeat(hop, 51) + "\r\n", "554 5.4.6"},
		{strings.Repeat(hop, 50) + "\r\n", "250"},
		{"\r\n" + strings.Repeat(hop, 51), "250"},
	} {
		conn := smtptest.Hello(t, w.addr)
		conn.Say(data + c.text + ".\r\n")
		for _, want := range []string{"250", "250", "354", c.want} {
			conn.Expect(want)
		}
	}
	w.sizes(2, 0)
}

// What comes in chunks and in long lines goes out with the same bytes.
func TestBytesPass(t *testing.T) {
	w := newWorld(t, sqlite(t), setup{})
	for _, text := range []string{
		head + "a\r\n", head + ".\r\n..\r\n.a\r\n", "\xff\x80\r\n", head + strings.Repeat("x", 100_000) + "\r\n",
		head + strings.Repeat("0123456789\r\n", 100_000), "Subject: " + strings.Repeat("x", 100_000) + "\r\n\r\nbody\r\n",
	} {
		before := w.host.Count()
		conn := smtptest.Hello(t, w.addr)
		conn.Say("MAIL FROM:<> BODY=8BITMIME\r\n" + rcpt)
		conn.Expect("250")
		conn.Expect("250")
		half := len(text) / 2
		for _, chunk := range []struct{ text, last string }{{text[:half], ""}, {text[half:], " LAST"}} {
			conn.Say("BDAT " + strconv.Itoa(len(chunk.text)) + chunk.last + "\r\n" + chunk.text)
			conn.Expect("250 2.0.0 ")
		}
		w.until("the message", func() bool { return w.host.Count() == before+1 })
		messages := w.host.Messages()
		if _, rest := cutReceived(t, string(messages[len(messages)-1].Data)); rest != text {
			t.Errorf("%d bytes arrived as %d: %q", len(text), len(rest), rest[:min(len(rest), 100)])
		}
	}
}
