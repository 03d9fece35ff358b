package identity

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// passkeys are what passkeys are bound to: the host name of base_url.
type passkeys struct {
	web *webauthn.WebAuthn // nil: there are none, because of
	why string
}

// Ceremony is what a browser is asked to do with a passkey.
type Ceremony struct {
	Name    string // finds it again; only the browser keeps it
	Options []byte // what navigator.credentials takes as publicKey, as JSON
}

// UsePasskeys lets users register passkeys for the host of base_url, where
// browsers allow that. It must be called before any user signs in.
func (s *Service) UsePasskeys(baseURL string) error {
	u, err := url.Parse(baseURL)
	if err != nil {
		return fmt.Errorf("passkeys: %w", err)
	}
	host := u.Hostname()
	_, notIP := netip.ParseAddr(host)
	switch {
	case notIP == nil:
		s.passkeys.why = "Browsers bind passkeys to a host name, and base_url has the address " + host +
			". Set base_url to an https address with a host name."
		return nil
	case u.Scheme != "https" && host != "localhost" && !strings.HasSuffix(host, ".localhost"):
		s.passkeys.why = "Browsers allow passkeys over https only. Set base_url to an https address."
		return nil
	}
	s.passkeys.web, err = webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: s.issuer, RPOrigins: []string{u.Scheme + "://" + u.Host},
		// Password managers answer with outputs that were not asked for; they change
		// nothing here.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return fmt.Errorf("passkeys: %w", err)
	}
	return nil
}

// NoPasskeys says in a sentence why there are no passkeys here; "" where there are.
func (s *Service) NoPasskeys() string { return s.passkeys.why }

func (s *Service) needPasskeys() error {
	if s.passkeys.web == nil {
		return fault.New(fault.Conflict, "Passkeys cannot be used here. %s", s.passkeys.why)
	}
	return nil
}

// keeper is a user as the library sees them.
type keeper struct {
	user     User
	passkeys []Passkey
}

// WebAuthnID is the user's id here: it says nothing about the person, as the
// standard wants, and is never used twice.
func (k keeper) WebAuthnID() []byte          { return binary.BigEndian.AppendUint64(nil, uint64(k.user.ID)) }
func (k keeper) WebAuthnName() string        { return k.user.Name }
func (k keeper) WebAuthnDisplayName() string { return k.user.Name }
func (k keeper) WebAuthnCredentials() (list []webauthn.Credential) {
	for _, p := range k.passkeys {
		list = append(list, p.credential)
	}
	return list
}

func (s *Service) keeper(ctx context.Context, u User) (keeper, error) {
	list, err := s.passkeysOf(ctx, u.ID)
	return keeper{u, list}, err
}

func (s *Service) begin(ctx context.Context, st step, options, session any, addr string) (c Ceremony, err error) {
	if c.Options, st.challenge, err = bothJSON(options, session); err != nil {
		return c, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c.Name, err = s.beginStep(ctx, tx, st, addr)
		return err
	})
	return c, err
}

func bothJSON(options, session any) (o, c []byte, err error) {
	if o, err = json.Marshal(options); err == nil {
		c, err = json.Marshal(session)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("asking for a passkey: %w", err)
	}
	return o, c, nil
}
