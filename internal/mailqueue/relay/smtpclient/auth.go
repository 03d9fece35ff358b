package smtpclient

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/xdg-go/scram"
)

// mechanism is a way to sign in: RFC 4422.
type mechanism struct {
	name  string
	first *string // is said with AUTH; nil: the smarthost begins
	// next answers what the smarthost says then.
	next func(said string) (string, error)
	// proved reports whether the smarthost has shown that it knows the password too;
	// nil: it need not.
	proved func() bool
}

var errAskedOn = errors.New("asked for more than a user name and a password")

// signIn shows name and password by the first way that both sides know. Where
// the smarthost offers SCRAM and does not know this user's password so, the next
// is tried.
func (h *Smarthost) signIn(s *Session) error {
	offered := s.mechanisms()
	ways := slices.DeleteFunc(h.byPassword(), func(m mechanism) bool { return !slices.Contains(offered, m.name) })
	if len(ways) > 1 && ways[0].name != "SCRAM-SHA-256" {
		ways = ways[:1]
	}
	if len(ways) == 0 {
		hint := ""
		if slices.Contains(offered, "XOAUTH2") || slices.Contains(offered, "OAUTHBEARER") {
			hint = "; it takes tokens, which the settings mail.oauth are for"
		}
		return h.failed(nil, "offers no way to sign in that is known here: SCRAM-SHA-256, PLAIN or LOGIN%s", hint)
	}
	var r Reply
	var err error
	for i := range ways[:min(2, len(ways))] {
		h.trace("sign-in", "")
		if r, err = s.exchange(&ways[i]); err == nil && r.Code == 235 {
			h.trace("sign-in", ways[i].name+": "+r.String())
			return nil
		}
		if err != nil || r.Code < 500 {
			break
		}
	}
	return h.notSignedIn("AUTH", r, err)
}

// byPassword are the ways to show name and password, the best one first.
func (h *Smarthost) byPassword() []mechanism {
	password := h.Password.Reveal()
	plain := "\x00" + h.User + "\x00" + password
	answers := []string{h.User, password}
	return []mechanism{
		scramSHA256(h.User, password),
		{"PLAIN", &plain, func(string) (string, error) { return "", errAskedOn }, nil}, // RFC 4616
		{"LOGIN", nil, func(string) (string, error) { // servers word its two questions in more ways than one
			if len(answers) == 0 {
				return "", errAskedOn
			}
			answer := answers[0]
			answers = answers[1:]
			return answer, nil
		}, nil},
	}
}

var errForged = errors.New("could not prove that it knows the password (SCRAM-SHA-256)")

// scramSHA256 is RFC 7677. What the library says of the other side's mistakes is
// not for administrators.
func scramSHA256(user, password string) mechanism {
	client, err := scram.SHA256.NewClient(user, password, "")
	if err != nil { // characters that SASLprep prohibits
		return mechanism{name: "-"}
	}
	talk := client.NewConversation()
	first, _ := talk.Step("")
	return mechanism{"SCRAM-SHA-256", &first, func(said string) (string, error) {
		answer, err := talk.Step(said)
		if err != nil {
			return "", errForged
		}
		return answer, nil
	}, talk.Valid}
}

// mechanisms are the ways to sign in that the smarthost offers.
func (s *Session) mechanisms() []string { return strings.Fields(strings.ToUpper(s.offers["AUTH"])) }

// exchange signs in in one way, and returns the answer that ends it.
func (s *Session) exchange(m *mechanism) (Reply, error) {
	line := "AUTH " + m.name
	if m.first != nil {
		line += " " + encode(*m.first)
	}
	r, err := s.ask(line)
	for err == nil && r.Code == 334 {
		var answer string
		said, _ := base64.StdEncoding.DecodeString(r.Text()) // LOGIN's questions may be anything
		if answer, err = m.next(string(said)); err == nil {
			r, err = s.ask(encode(answer))
		}
	}
	if err == nil && r.Code == 235 && m.proved != nil && !m.proved() {
		err = errForged
	}
	return r, err
}

// notSignedIn is about a sign-in that did not end well.
func (h *Smarthost) notSignedIn(what string, r Reply, err error) error {
	if errors.Is(err, errAskedOn) || errors.Is(err, errForged) {
		return h.failed(nil, "%s", err)
	}
	return h.unwelcome(what, r, err)
}

func encode(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
