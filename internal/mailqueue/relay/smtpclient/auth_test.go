package smtpclient

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/secret"
)

// A smarthost is signed in to by PLAIN, else by LOGIN; one that asks on and on
// is given no more than a name and a password.
func TestSignIn(t *testing.T) {
	for _, test := range []struct {
		name, offers string
		replies      []string
		said         []string
		failure      string
	}{
		{"PLAIN", "AUTH LOGIN PLAIN", []string{"235 2.7.0 OK"}, []string{"AUTH PLAIN AGFubgByaWdodA=="}, ""},
		{"LOGIN", "AUTH login", []string{"334 VXNlcm5hbWU6", "334 UGFzc3dvcmQ6", "235 2.7.0 OK"}, []string{"AUTH LOGIN", "YW5u", "cmlnaHQ="}, ""},
		{"a wrong password", "AUTH PLAIN", []string{"535 5.7.8 No"}, []string{"AUTH PLAIN AGFubgByaWdodA=="}, "answered AUTH with 535 5.7.8 No."},
		{"PLAIN and a question", "AUTH PLAIN", []string{"334 x"}, []string{"AUTH PLAIN AGFubgByaWdodA=="}, "asked for more than a user name and a password."},
		{"LOGIN and a third question", "AUTH LOGIN", []string{"334 x", "334 x", "334 x"}, []string{"AUTH LOGIN", "YW5u", "cmlnaHQ="}, "asked for more than a user name and a password."},
		{"no way that is known", "AUTH GSSAPI", nil, nil, "offers no way to sign in that is known here: SCRAM-SHA-256, PLAIN or LOGIN."},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			heard := make(chan []string, 1)
			go func() {
				defer l.Close()
				conn, err := l.Accept()
				if err != nil {
					heard <- nil
					return
				}
				defer conn.Close()
				heard <- signInTo(conn, test.offers, test.replies)
			}()
			h := &Smarthost{Address: l.Addr().String(), TLS: NoTLS, Hostname: "relay.example", User: "ann", Password: secret.New("right")}
			s, err := h.Connect(t.Context())
			if err == nil {
				s.Close()
			}
			if test.failure == "" && err != nil || test.failure != "" && (err == nil || !strings.HasSuffix(err.Error(), test.failure)) {
				t.Errorf("signing in: %v", err)
			}
			if said := <-heard; !slices.Equal(said, test.said) {
				t.Errorf("said %q, want %q", said, test.said)
			}
		})
	}
}

// signInTo plays a smarthost that answers with these replies in turn, and gives
// the lines that they answered.
func signInTo(conn net.Conn, offers string, replies []string) (lines []string) {
	in := bufio.NewReader(conn)
	io.WriteString(conn, "220 smarthost.example ESMTP\r\n")
	in.ReadString('\n')
	io.WriteString(conn, "250-smarthost.example\r\n250 "+offers+"\r\n")
	for _, reply := range replies {
		line, _ := in.ReadString('\n')
		lines = append(lines, strings.TrimSpace(line))
		io.WriteString(conn, reply+"\r\n")
	}
	return lines
}
