package smtpclient

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// underTLS is a certificate for this machine, and who trusts it.
func underTLS(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	s := httptest.NewTLSServer(nil)
	t.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots}
}

// playTLS answers each session in turn with what it offers, and replies; it
// returns what each of them heard.
func playTLS(t *testing.T, config *tls.Config, sessions []played) (address string, heard <-chan [][]string) {
	t.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	all := make(chan [][]string, 1)
	go func() {
		var said [][]string
		for _, s := range sessions {
			conn, err := l.Accept()
			if err != nil {
				break
			}
			said = append(said, signInTo(conn, s.offers, s.replies))
			conn.Close()
		}
		all <- said
	}()
	return l.Addr().String(), all
}

type played struct {
	offers  string
	replies []string
}

// A token is shown by what is offered, and one that is refused makes place for one
// more, once. What a smarthost says before its refusal is kept.
func TestSignInByToken(t *testing.T) {
	server, client := underTLS(t)
	const why = `{"status":"401","schemes":"bearer"}`
	challenge := "334 " + base64.StdEncoding.EncodeToString([]byte(why))
	both := "AUTH XOAUTH2 OAUTHBEARER PLAIN"
	for _, test := range []struct {
		name     string
		sessions []played
		want     []string // the mechanisms with the tokens that were shown, over all sessions
		failure  string
		refused  []string
	}{
		{"XOAUTH2", []played{{"AUTH PLAIN XOAUTH2", []string{"235 OK"}}}, []string{"XOAUTH2 t1"}, "", nil},
		{"OAUTHBEARER", []played{{"AUTH OAUTHBEARER", []string{"235 OK"}}}, []string{"OAUTHBEARER t1"}, "", nil},
		{"both", []played{{both, []string{"235 OK"}}}, []string{"XOAUTH2 t1"}, "", nil},
		{"both, and it takes one", []played{{both, []string{"504 5.5.4 No", "235 OK"}}}, []string{"XOAUTH2 t1", "OAUTHBEARER t1"}, "", nil},
		{"both, and it hangs up at one", []played{{both, []string{"504 5.5.4 No"}}}, []string{"XOAUTH2 t1"}, "answered AUTH XOAUTH2 with 504 5.5.4 No.", nil},
		{"refused at first", []played{{"AUTH XOAUTH2", []string{"535 No"}}, {"AUTH XOAUTH2", []string{"235 OK"}}}, []string{"XOAUTH2 t1", "XOAUTH2 t2"}, "", []string{"t1"}},
		{"refused", []played{{"AUTH XOAUTH2", []string{challenge, "535 5.7.3 No"}}, {"AUTH XOAUTH2", []string{challenge, "535 5.7.3 No"}}},
			[]string{"XOAUTH2 t1", "", "XOAUTH2 t2", ""}, "answered AUTH XOAUTH2 with 535 5.7.3 No (" + why + ").", []string{"t1", "t2"}},
		{"refused by the other", []played{{"AUTH OAUTHBEARER", []string{challenge, "535 No"}}, {"AUTH OAUTHBEARER", []string{"235 OK"}}},
			[]string{"OAUTHBEARER t1", "AQ==", "OAUTHBEARER t2"}, "", []string{"t1"}},
		{"a question after the reason", []played{{"AUTH XOAUTH2", []string{challenge, challenge}}}, []string{"XOAUTH2 t1", ""}, "asked for more than a user name and a password.", nil},
		{"later", []played{{both, []string{"454 4.7.0 Later"}}}, []string{"XOAUTH2 t1"}, "answered AUTH XOAUTH2 with 454 4.7.0 Later.", nil},
		{"passwords only", []played{{"AUTH PLAIN LOGIN", nil}}, nil, "offers no way to sign in with a token: XOAUTH2 or OAUTHBEARER.", nil},
		{"nothing", []played{{"SIZE", nil}}, nil, "offers no way to sign in with a token: XOAUTH2 or OAUTHBEARER.", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			address, heard := playTLS(t, server, test.sessions)
			var refused []string
			last, n := "", 0
			h := &Smarthost{
				Address: address, TLS: ImplicitTLS, Config: client, Hostname: "relay.example", User: "ann@example.com",
				Token: func(context.Context) (secret.Value, error) {
					if last == "" || slices.Contains(refused, last) {
						n++
						last = fmt.Sprintf("t%d", n)
					}
					return secret.New(last), nil
				},
				Refused: func(token secret.Value) { refused = append(refused, token.Reveal()) },
			}
			s, err := h.Connect(t.Context())
			if err == nil {
				if !s.RefuseSignIn() || !slices.Contains(refused, last) {
					t.Error("the token of a session cannot be refused")
				}
				refused = refused[:len(refused)-1]
				s.Close()
			}
			if test.failure == "" && err != nil || test.failure != "" && (err == nil || !strings.HasSuffix(fault.As(err).Message, test.failure) || !fault.Is(err, fault.Unavailable)) {
				t.Errorf("signing in: %v", err)
			}
			if !slices.Equal(refused, test.refused) {
				t.Errorf("refused are %q, want %q", refused, test.refused)
			}
			var want, got []string
			for _, shown := range test.want {
				want = append(want, asShown(h, shown))
			}
			for _, lines := range <-heard {
				got = append(got, lines...)
			}
			if !slices.Equal(got, want) {
				t.Errorf("said %q, want %q", got, want)
			}
		})
	}
}

// What is offered before STARTTLS does not count, and what is offered after it does.
func TestSignInByTokenAfterSTARTTLS(t *testing.T) {
	server, client := underTLS(t)
	for _, test := range []struct{ name, before, after, failure string }{
		{"only after STARTTLS", "AUTH PLAIN LOGIN", "AUTH PLAIN XOAUTH2", ""},
		{"nothing before it", "SIZE", "AUTH OAUTHBEARER", ""},
		{"only before it", "AUTH XOAUTH2 OAUTHBEARER", "AUTH PLAIN", "offers no way to sign in with a token: XOAUTH2 or OAUTHBEARER."},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			heard := make(chan string, 2)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				io.WriteString(conn, "220 smarthost.example ESMTP\r\n")
				heard <- answerEHLO(conn, "220 Go ahead", test.before, "STARTTLS")
				heard <- answerEHLO(tls.Server(conn, server), "235 OK", test.after)
			}()
			h := &Smarthost{
				Address: l.Addr().String(), TLS: StartTLS, Config: client, Hostname: "relay.example", User: "ann@example.com",
				Token: func(context.Context) (secret.Value, error) { return secret.New("t1"), nil },
			}
			s, err := h.Connect(t.Context())
			if err == nil {
				s.Close()
			}
			if test.failure == "" && err != nil || test.failure != "" && (err == nil || !strings.HasSuffix(fault.As(err).Message, test.failure)) {
				t.Errorf("signing in: %v", err)
			}
			if got := <-heard; got != "STARTTLS" {
				t.Errorf("before TLS it heard %q", got)
			}
			if got := <-heard; test.failure == "" && !strings.HasPrefix(got, "AUTH ") {
				t.Errorf("after it %q", got)
			}
		})
	}
}

// answerEHLO answers EHLO with what is offered, and the line after it, which it returns.
func answerEHLO(conn net.Conn, answer string, offers ...string) string {
	in := bufio.NewReader(conn)
	in.ReadString('\n')
	io.WriteString(conn, "250-smarthost.example\r\n")
	for i, offer := range offers {
		between := "-"
		if i == len(offers)-1 {
			between = " "
		}
		io.WriteString(conn, "250"+between+offer+"\r\n")
	}
	line, _ := in.ReadString('\n')
	io.WriteString(conn, answer+"\r\n")
	return strings.TrimSpace(line)
}

// asShown is the line that shows a token: of RFC 7628, and of XOAUTH2 as Google and
// Microsoft publish it.
func asShown(h *Smarthost, shown string) string {
	name, token, found := strings.Cut(shown, " ")
	if !found {
		return shown
	}
	text := "user=ann@example.com\x01auth=Bearer " + token + "\x01\x01"
	if name == "OAUTHBEARER" {
		host, port, _ := net.SplitHostPort(h.Address)
		text = "n,a=ann@example.com,\x01host=" + host + "\x01port=" + port + "\x01auth=Bearer " + token + "\x01\x01"
	}
	return "AUTH " + name + " " + base64.StdEncoding.EncodeToString([]byte(text))
}

// A token is never sent without TLS, and not asked for where it cannot be used; an
// error of who issues it is what sending pauses with.
func TestNoToken(t *testing.T) {
	asked := 0
	h := &Smarthost{TLS: NoTLS, Hostname: "relay.example", User: "ann", Token: func(context.Context) (secret.Value, error) {
		asked++
		return secret.Value{}, fault.New(fault.Unavailable, "No token.")
	}}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if conn, err := l.Accept(); err == nil {
			signInTo(conn, "AUTH XOAUTH2", nil)
			conn.Close()
		}
	}()
	h.Address = l.Addr().String()
	if _, err := h.Connect(t.Context()); err == nil || !strings.HasSuffix(err.Error(), "is reached without TLS, and a token is not sent in the clear.") || asked != 0 {
		t.Errorf("%v, asked %d times", err, asked)
	}
	server, client := underTLS(t)
	h.Address, _ = playTLS(t, server, []played{{"AUTH XOAUTH2", nil}})
	h.TLS, h.Config = ImplicitTLS, client
	if _, err := h.Connect(t.Context()); err == nil || err.Error() != "No token." {
		t.Error(err)
	}
}

// SCRAM-SHA-256 goes before PLAIN, which is tried where it is refused; a smarthost
// that does not know the password is not believed.
func TestSignInByScram(t *testing.T) {
	for _, test := range []struct {
		name, known string
		forged      bool
		want        string
		plain       bool
	}{
		{"the right password", "right", false, "", false},
		{"another password", "other", false, "", true},
		{"a smarthost that lies", "right", true, "could not prove that it knows the password (SCRAM-SHA-256).", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			plain := make(chan bool, 1)
			go func() {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				plain <- scramServer(conn, test.known, test.forged)
			}()
			h := &Smarthost{Address: l.Addr().String(), TLS: NoTLS, Hostname: "relay.example", User: "ann", Password: secret.New("right")}
			s, err := h.Connect(t.Context())
			if err == nil {
				s.Close()
			}
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasSuffix(err.Error(), test.want)) {
				t.Error(err)
			}
			if got := <-plain; got != test.plain {
				t.Errorf("PLAIN was used: %v", got)
			}
		})
	}
}
