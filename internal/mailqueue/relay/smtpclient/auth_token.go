package smtpclient

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/work"
)

var errTokenRefused = errors.New("the token was refused")

// signInByToken shows a token by what the smarthost offers. One that offers both
// ways and refuses the first may take the other.
func (h *Smarthost) signInByToken(ctx context.Context, s *Session) error {
	if !s.encrypted {
		return h.failed(nil, "is reached without TLS, and a token is not sent in the clear")
	}
	h.trace("token", "")
	offered := s.mechanisms()
	ways := slices.DeleteFunc([]string{"XOAUTH2", "OAUTHBEARER"}, func(name string) bool { return !slices.Contains(offered, name) })
	if len(ways) == 0 {
		return h.failed(nil, "offers no way to sign in with a token: XOAUTH2 or OAUTHBEARER")
	}
	token, err := h.Token(ctx)
	if err != nil {
		return err
	}
	h.trace("token", "obtained")
	var failed error
	for _, name := range ways {
		h.trace("sign-in", "")
		said := ""
		r, err := s.exchange(h.byToken(name, token.Reveal(), &said))
		if err == nil && r.Code == 235 {
			h.trace("sign-in", name+": "+r.String())
			s.refuseToken = func() { h.Refused(token) }
			return nil
		}
		// A smarthost that hung up after it refused has answered.
		if err != nil && failed != nil {
			return failed
		}
		failed = h.refusal(name, said, r, err)
		if r.Code == 535 {
			h.Refused(token)
			failed = fault.Wrap(errTokenRefused, fault.Unavailable, "%s", fault.As(failed).Message)
		}
		if err != nil || r.Code < 500 {
			return failed
		}
	}
	return failed
}

// refusal keeps what the smarthost said before its answer: RFC 7628, 3.2.2.
func (h *Smarthost) refusal(name, said string, r Reply, err error) error {
	if said != "" && err == nil {
		return h.failed(nil, "answered AUTH %s with %s (%s)", name, r, said)
	}
	return h.notSignedIn("AUTH "+name, r, err)
}

// byToken is XOAUTH2, as Google and Microsoft describe it, or OAUTHBEARER, RFC
// 7628. A smarthost that asks on tells why it will refuse: said is that.
func (h *Smarthost) byToken(name, token string, said *string) *mechanism {
	first, end := "user="+h.User+"\x01auth=Bearer "+token+"\x01\x01", ""
	if name == "OAUTHBEARER" {
		host, port, _ := net.SplitHostPort(h.Address)
		user := strings.NewReplacer("=", "=3D", ",", "=2C").Replace(h.User) // RFC 5801, 4
		first, end = "n,a="+user+",\x01host="+host+"\x01port="+port+"\x01auth=Bearer "+token+"\x01\x01", "\x01"
	}
	asked := false
	return &mechanism{name, &first, func(why string) (string, error) {
		if asked {
			return "", errAskedOn
		}
		asked = true
		*said = strings.Join(strings.Fields(work.ReadAnswer(strings.NewReader(strings.ReplaceAll(why, token, "<secret>")))), " ")
		return end, nil
	}, nil}
}
