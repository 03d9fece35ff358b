package smtpclient

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// against connects to a server that serve plays, greeting and EHLO said.
func against(t *testing.T, serve func(conn net.Conn, in *bufio.Reader)) *Session {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer l.Close()
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		io.WriteString(conn, "220 smarthost.example ESMTP\r\n")
		in.ReadString('\n')
		io.WriteString(conn, "250-smarthost.example\r\n250-PIPELINING\r\n250 8BITMIME\r\n")
		serve(conn, in)
	}()
	t.Cleanup(func() { <-over })
	h := &Smarthost{Address: l.Addr().String(), TLS: NoTLS, Hostname: "relay.example"}
	s, err := h.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// abandon closes a connection as servers do that have not read everything: the
// client's next packet is answered with a reset.
func abandon(conn net.Conn) {
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

// What the smarthost said is kept when it closes in the middle of a pipeline,
// also when writing fails before its words are read.
func TestLastWords(t *testing.T) {
	t.Run("between commands", func(t *testing.T) {
		s := against(t, func(conn net.Conn, in *bufio.Reader) {
			in.ReadString('\n') // MAIL, and no more of the pipeline
			io.WriteString(conn, "250 2.1.0 OK\r\n421 4.7.0 You send too much\r\n")
		})
		r := s.Send(&Message{Sender: "a@example.com", Recipients: []string{"b@example.com", "c@example.com"}, Content: strings.NewReader("x\r\n"), Size: 3})
		if r.Err == nil || r.Mail.Code != 250 || r.Recipients[0].String() != "421 4.7.0 You send too much" || r.Recipients[1].Code != 0 {
			t.Errorf("heard %+v", r)
		}
	})
	t.Run("while commands are written", func(t *testing.T) {
		gone := make(chan struct{})
		s := against(t, func(conn net.Conn, in *bufio.Reader) {
			io.WriteString(conn, "421 4.3.2 The server stops\r\n")
			conn.(*net.TCPConn).CloseWrite()
			conn.Close()
			close(gone)
		})
		<-gone
		// Written until the reset has come: what is read then stood before it.
		for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
			if _, err := s.conn.Write([]byte("NOOP\r\n")); err != nil {
				break
			}
		}
		r := s.Send(&Message{Sender: "a@example.com", Recipients: []string{"b@example.com"}, Content: strings.NewReader("x\r\n"), Size: 3})
		if r.Err == nil || r.Mail.String() != "421 4.3.2 The server stops" {
			t.Errorf("heard %+v", r)
		}
	})
	t.Run("while the message is written", func(t *testing.T) {
		s := against(t, func(conn net.Conn, in *bufio.Reader) {
			for range 3 {
				in.ReadString('\n')
			}
			io.WriteString(conn, "250 OK\r\n250 OK\r\n354 Go ahead\r\n")
			in.ReadString('\n')
			io.WriteString(conn, "552 5.3.4 Too large\r\n")
		})
		text := strings.Repeat("0123456789\r\n", 1<<20)
		r := s.Send(&Message{Sender: "a@example.com", Recipients: []string{"b@example.com"}, Content: strings.NewReader(text), Size: int64(len(text))})
		if r.Err == nil || r.End.String() != "552 5.3.4 Too large" {
			t.Errorf("heard %v, %v", r.End, r.Err)
		}
	})
}

// A server that closes at once is an end without words.
func TestNoWords(t *testing.T) {
	s := against(t, func(conn net.Conn, in *bufio.Reader) {
		in.ReadString('\n')
		abandon(conn)
	})
	r := s.Send(&Message{Sender: "a@example.com", Recipients: []string{"b@example.com"}, Content: strings.NewReader("x\r\n"), Size: 3})
	if r.Err == nil || r.Mail.Code != 0 || r.Reason() == "" {
		t.Errorf("heard %+v", r)
	}
}

// Whatever a smarthost answers, and wherever it stops, a transaction ends, and
// nothing is taken for an answer that is none.
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"250 OK\r\n250 OK\r\n354 Go\r\n250 Taken\r\n", "250 OK\r\n421 Bye\r\n", "550-5.7.1 No\r\n550 5.7.1 Never\r\n", "354\r\n354\r\n354\r\n354\r\n",
		"250 OK\r\n550 No\r\n354 Go\r\n", "\x00\xff\r\n", "250", "", "250 OK\r\n250 OK\r\n250 OK\r\n",
	} {
		f.Add(s, uint8(1), true)
	}
	f.Fuzz(func(t *testing.T, said string, recipients uint8, pipelining bool) {
		client, server := net.Pipe()
		go io.Copy(io.Discard, server)
		go func() {
			io.WriteString(server, said)
			server.Close()
		}()
		s := newSession(t.Context(), client)
		defer s.Close()
		if pipelining {
			s.offers = map[string]string{"PIPELINING": ""}
		}
		to := slices.Repeat([]string{"b@example.com"}, 1+int(recipients)%8)
		r := s.Send(&Message{Sender: "a@example.com", Recipients: to, Content: strings.NewReader("x\r\n"), Size: 3})
		if len(r.Recipients) != len(to) || r.End.Code/100 == 2 && (r.Accepted() == 0 || r.Data.Code != 354) {
			t.Errorf("%q is heard as %+v", said, r)
		}
	})
}
