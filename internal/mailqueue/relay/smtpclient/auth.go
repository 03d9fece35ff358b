package smtpclient

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/emersion/go-sasl"
)

// signIn shows name and password by the first way that both sides know.
func (h *Smarthost) signIn(s *Session) error {
	var client sasl.Client
	switch offered := strings.Fields(strings.ToUpper(s.offers["AUTH"])); {
	case slices.Contains(offered, sasl.Plain):
		client = sasl.NewPlainClient("", h.User, h.Password.Reveal())
	case slices.Contains(offered, sasl.Login):
		client = &loginClient{answers: []string{h.User, h.Password.Reveal()}}
	default:
		return h.failed(nil, "offers no way to sign in that is known here: PLAIN or LOGIN")
	}
	mechanism, first, err := client.Start()
	if err != nil {
		return h.failed(err, "cannot be signed in to")
	}
	line := "AUTH " + mechanism
	if first != nil {
		line += " " + base64.StdEncoding.EncodeToString(first)
	}
	r, err := s.ask(line)
	for err == nil && r.Code == 334 {
		var challenge, answer []byte
		if challenge, err = base64.StdEncoding.DecodeString(r.Text()); err == nil {
			answer, err = client.Next(challenge)
		}
		if err == nil {
			r, err = s.ask(base64.StdEncoding.EncodeToString(answer))
		}
	}
	if err != nil || r.Code != 235 {
		return h.unwelcome("AUTH", r, err)
	}
	return nil
}

// loginClient answers LOGIN's two questions in their order: servers word them
// in more ways than one.
type loginClient struct{ answers []string }

func (l *loginClient) Start() (string, []byte, error) { return sasl.Login, nil, nil }

func (l *loginClient) Next([]byte) ([]byte, error) {
	if len(l.answers) == 0 {
		return nil, sasl.ErrUnexpectedServerChallenge
	}
	answer := l.answers[0]
	l.answers = l.answers[1:]
	return []byte(answer), nil
}
