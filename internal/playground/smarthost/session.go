package smarthost

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"strconv"
	"strings"
)

// maxMessage bounds a message that is played with.
const maxMessage = 64 << 20

// session is one client's conversation.
type session struct {
	host   *Host
	number int
	conn   net.Conn
	in     *bufio.Reader
	tls    bool
	user   string

	message *Message
	chunks  bytes.Buffer
}

func newSession(h *Host, conn net.Conn, number int) *session {
	s := &session{host: h, number: number}
	s.over(conn)
	_, s.tls = conn.(*tls.Conn)
	return s
}

func (s *session) over(conn net.Conn) {
	// Large, so that a client that pipelines over a pipe is not held up.
	s.conn, s.in = conn, bufio.NewReaderSize(conn, 64<<10)
}

// errOver ends a session on our side.
var errOver = errors.New("smarthost: the session is over")

func (s *session) run() {
	defer s.host.react(Request{Session: s.number, Verb: "CLOSE"})
	err := s.answer("CONNECT", "", func() string { return "220 smarthost.example ESMTP" })
	for err == nil {
		var line string
		if line, err = s.in.ReadString('\n'); err == nil {
			err = s.handle(strings.TrimRight(line, "\r\n"))
		}
	}
}

// answer reacts to a request: as is played, else with what usual says.
func (s *session) answer(verb, line string, usual func() string) error {
	reply, then := "", GoOn
	if r := s.host.react(Request{Session: s.number, Verb: verb, Line: line, Message: s.message}); r != nil {
		reply, then = r.Reply, r.Then
	} else {
		reply = usual()
	}
	if verb == "." && strings.HasPrefix(reply, "2") {
		s.host.keep(*s.message)
	}
	if reply != "" {
		if _, err := io.WriteString(s.conn, strings.ReplaceAll(reply, "\n", "\r\n")+"\r\n"); err != nil {
			return err
		}
	}
	switch then {
	case HangUp:
		return errOver
	case FallSilent:
		_, err := io.Copy(io.Discard, s.conn) // until the client, or Close, ends it
		return errors.Join(err, errOver)
	}
	return nil
}

func (s *session) handle(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	verb = strings.ToUpper(verb)
	switch verb {
	case "EHLO":
		return s.answer(verb, line, s.ehlo)
	case "STARTTLS":
		return s.startTLS(line)
	case "AUTH":
		return s.auth(line, strings.Fields(rest))
	case "MAIL":
		return s.answer(verb, line, func() string { return s.mail(rest) })
	case "RCPT":
		return s.answer(verb, line, func() string { return s.rcpt(rest) })
	case "DATA":
		return s.data(line)
	case "BDAT":
		return s.bdat(line, strings.Fields(rest))
	case "RSET":
		s.message = nil
	case "QUIT":
		return errors.Join(s.answer(verb, line, func() string { return "221 2.0.0 Bye" }), errOver)
	case "HELO", "NOOP":
	default:
		return s.answer(verb, line, func() string { return "502 5.5.1 What?" })
	}
	return s.answer(verb, line, func() string { return "250 2.0.0 OK" })
}

func (s *session) ehlo() string {
	lines := append([]string{"smarthost.example"}, s.host.o.Offers...)
	if s.host.o.TLS != nil && !s.tls {
		lines = append(lines, "STARTTLS")
	}
	if s.host.o.User != "" {
		lines = append(lines, "AUTH PLAIN LOGIN")
	}
	last := len(lines) - 1
	return "250-" + strings.Join(lines[:last], "\n250-") + "\n250 " + lines[last]
}

func (s *session) startTLS(line string) error {
	if s.host.o.TLS == nil || s.tls {
		return s.answer("STARTTLS", line, func() string { return "502 5.5.1 No TLS here" })
	}
	if err := s.answer("STARTTLS", line, func() string { return "220 2.0.0 Go ahead" }); err != nil {
		return err
	}
	conn := tls.Server(s.conn, s.host.o.TLS)
	if err := conn.Handshake(); err != nil {
		return err
	}
	s.over(conn)
	s.tls, s.message = true, nil
	return nil
}

// auth knows PLAIN and LOGIN.
func (s *session) auth(line string, args []string) error {
	var shown []string
	switch {
	case len(args) == 2 && strings.EqualFold(args[0], "PLAIN"):
		raw, _ := base64.StdEncoding.DecodeString(args[1])
		shown = strings.Split(string(raw), "\x00")[1:]
	case len(args) == 1 && strings.EqualFold(args[0], "LOGIN"):
		for _, question := range []string{"Username:", "Password:"} {
			if _, err := io.WriteString(s.conn, "334 "+base64.StdEncoding.EncodeToString([]byte(question))+"\r\n"); err != nil {
				return err
			}
			answer, err := s.in.ReadString('\n')
			if err != nil {
				return err
			}
			raw, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(answer))
			shown = append(shown, string(raw))
		}
	}
	return s.answer("AUTH", line, func() string {
		s.host.mu.Lock()
		password := s.host.password
		s.host.mu.Unlock()
		if len(shown) != 2 || shown[0] != s.host.o.User || shown[1] != password {
			return "535 5.7.8 Authentication failed"
		}
		s.user = shown[0]
		return "235 2.7.0 Welcome"
	})
}

func (s *session) mail(rest string) string {
	if s.host.o.User != "" && s.user == "" {
		return "530 5.7.0 Authentication required"
	}
	if s.message != nil {
		return "503 5.5.1 One message at a time"
	}
	address, params, ok := cutPath(rest, "FROM:")
	if !ok {
		return "501 5.5.4 From whom?"
	}
	s.message = &Message{From: address, Params: params, TLS: s.tls, User: s.user}
	s.chunks.Reset()
	return "250 2.1.0 OK"
}

func (s *session) rcpt(rest string) string {
	address, _, ok := cutPath(rest, "TO:")
	switch {
	case s.message == nil:
		return "503 5.5.1 Who sends it?"
	case !ok:
		return "501 5.5.4 To whom?"
	}
	s.message.To = append(s.message.To, address)
	return "250 2.1.5 OK"
}

// cutPath takes FROM:<a@b> apart from what is behind it.
func cutPath(s, prefix string) (address, params string, ok bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return "", "", false
	}
	s = strings.TrimSpace(s[len(prefix):])
	end := strings.LastIndexByte(s, '>')
	if !strings.HasPrefix(s, "<") || end < 0 {
		return "", "", false
	}
	return s[1:end], strings.TrimSpace(s[end+1:]), true
}

func (s *session) data(line string) error {
	if s.message == nil || len(s.message.To) == 0 {
		return s.answer("DATA", line, func() string { return "554 5.5.1 No valid recipients" })
	}
	begun := false
	err := s.answer("DATA", line, func() string { begun = true; return "354 Go ahead" })
	if err != nil || !begun {
		return err
	}
	if s.message.Data, err = readText(s.in); err != nil {
		return err
	}
	return s.take()
}

// readText reads up to the dot, undoubling those that begin lines.
func readText(in *bufio.Reader) ([]byte, error) {
	var text []byte
	for len(text) < maxMessage {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if string(line) == ".\r\n" {
			return text, nil
		}
		text = append(text, bytes.TrimPrefix(line, []byte("."))...)
	}
	return nil, errOver
}

func (s *session) bdat(line string, args []string) error {
	size, err := strconv.Atoi(append(args, "")[0])
	if err != nil || size < 0 || size > maxMessage {
		return errOver
	}
	if _, err := io.CopyN(&s.chunks, s.in, int64(size)); err != nil {
		return err
	}
	if s.message == nil || len(s.message.To) == 0 {
		return s.answer("BDAT", line, func() string { return "554 5.5.1 No valid recipients" })
	}
	if len(args) != 2 {
		return s.answer("BDAT", line, func() string { return "250 2.0.0 OK" })
	}
	s.message.Data = bytes.Clone(s.chunks.Bytes())
	return s.take()
}

// take answers a whole message.
func (s *session) take() error {
	err := s.answer(".", "", func() string { return "250 2.0.0 Taken" })
	s.message = nil
	return err
}
