package smtpclient

import (
	"encoding/base64"
	"slices"
	"strings"
)

// signIn shows name and password by the first way that both sides know.
func (h *Smarthost) signIn(s *Session) error {
	var line string
	var answers []string // to what the smarthost asks then, in this order
	password := h.Password.Reveal()
	switch offered := strings.Fields(strings.ToUpper(s.offers["AUTH"])); {
	case slices.Contains(offered, "PLAIN"): // RFC 4616
		line = "AUTH PLAIN " + encode("\x00"+h.User+"\x00"+password)
	case slices.Contains(offered, "LOGIN"): // servers word its two questions in more ways than one
		line, answers = "AUTH LOGIN", []string{h.User, password}
	default:
		return h.failed(nil, "offers no way to sign in that is known here: PLAIN or LOGIN")
	}
	r, err := s.ask(line)
	for err == nil && r.Code == 334 {
		if len(answers) == 0 {
			return h.failed(nil, "asked for more than a user name and a password")
		}
		r, err = s.ask(encode(answers[0]))
		answers = answers[1:]
	}
	if err != nil || r.Code != 235 {
		return h.unwelcome("AUTH", r, err)
	}
	return nil
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
