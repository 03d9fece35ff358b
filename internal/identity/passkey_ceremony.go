package identity

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
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
// browsers allow that. It must be called before anybody signs in.
func (s *Service) UsePasskeys(baseURL string) error {
	u, err := url.Parse(baseURL)
	if err != nil {
		return fmt.Errorf("passkeys: %w", err)
	}
	host := u.Hostname()
	_, notIP := netip.ParseAddr(host)
	switch {
	case notIP == nil:
		s.passkeys.why = "Browsers bind passkeys to a host name, and base_url has the address " + host + ". Set base_url to an https address with a host name."
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

// keeper is a user as the library sees him.
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

// NewPasskey begins the registration of a passkey of who asks; AddPasskey ends it.
func (s *Service) NewPasskey(ctx context.Context) (c Ceremony, err error) {
	u, k, err := s.registering(ctx)
	if err != nil {
		return c, err
	}
	options, session, err := s.passkeys.web.BeginRegistration(k,
		webauthn.WithExclusions(webauthn.Credentials(k.WebAuthnCredentials()).CredentialDescriptors()),
		// What the device can do: without both it still is a second factor.
		webauthn.WithAuthenticatorSelection(protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementPreferred, UserVerification: protocol.VerificationPreferred,
		}),
		webauthn.WithConveyancePreference(protocol.PreferNoAttestation))
	if err != nil {
		return c, fmt.Errorf("beginning to register a passkey: %w", err)
	}
	return s.begin(ctx, step{purpose: forRegister, user: u.ID, session: mySession(ctx)}, options.Response, session, OriginOf(ctx).Address)
}

func (s *Service) registering(ctx context.Context) (u User, k keeper, err error) {
	who, err := s.own(ctx)
	if err != nil {
		return u, k, err
	}
	if err := s.needPasskeys(); err != nil {
		return u, k, err
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err = localUser(ctx, tx, who.Ref())
		return err
	})
	if err != nil {
		return u, k, err
	}
	if u.Factors.Passkeys >= maxPasskeys {
		return u, k, fault.New(fault.Conflict, "You have %d passkeys already. Remove one first.", maxPasskeys)
	}
	k, err = s.keeper(ctx, u)
	return u, k, err
}

// AddPasskey stores the passkey that a browser made. recovery are the codes that
// were made with the first factor. Conflict: this one was not made for what
// NewPasskey asked.
func (s *Service) AddPasskey(ctx context.Context, name, ceremony string, answer []byte) (recovery []secret.Value, err error) {
	if err := JudgePasskey(name); err != nil {
		return nil, err
	}
	u, k, err := s.registering(ctx)
	if err != nil {
		return nil, err
	}
	st, err := s.tryStep(ctx, ceremony, forRegister)
	if errors.Is(err, ErrStepOver) || err == nil && (st.user != u.ID || st.session != mySession(ctx)) {
		return nil, fault.New(fault.Conflict, "This took too long. Start again.")
	}
	if err != nil {
		return nil, err
	}
	made, err := s.register(k, st, answer)
	if err != nil {
		return nil, fault.Wrap(err, fault.Conflict, "The browser's answer does not fit what was asked. Start again.")
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := endStep(ctx, tx, st); err != nil {
			return err
		}
		before, err := userByID(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if err := insertPasskey(ctx, tx, u.ID, name, made, s.now()); err != nil {
			return err
		}
		if recovery, err = firstRecovery(ctx, tx, before); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "add passkey", "user", u.Ref(), nil, map[string]string{"name": name})
	})
	return recovery, err
}

func (s *Service) register(k keeper, st step, answer []byte) (*webauthn.Credential, error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(st.challenge, &session); err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return nil, err
	}
	made, err := s.passkeys.web.CreateCredential(k, session, parsed)
	if err != nil {
		return nil, err
	}
	made.Attestation = webauthn.CredentialAttestation{} // was not asked for
	return made, nil
}

// BeginPasskey asks for a passkey as the second factor of a sign-in that waits.
func (s *Service) BeginPasskey(ctx context.Context, pending string) (c Ceremony, err error) {
	st, u, err := s.waiting(ctx, pending)
	if err != nil {
		return c, err
	}
	options, challenge, err := s.askFor(ctx, u)
	if err != nil {
		return c, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error { return challengeStep(ctx, tx, st, challenge) })
	return Ceremony{pending, options}, err
}

// BeginConfirm asks for a passkey with which who asks may Confirm.
func (s *Service) BeginConfirm(ctx context.Context) (c Ceremony, err error) {
	p := From(ctx)
	if p == nil {
		return c, ErrUnauthenticated()
	}
	u, err := s.User(ctx, p.Ref())
	if err != nil {
		return c, err
	}
	options, challenge, err := s.askFor(ctx, u)
	if err != nil {
		return c, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		c.Name, err = s.beginStep(ctx, tx, step{purpose: forConfirm, user: u.ID, session: p.Session, challenge: challenge}, OriginOf(ctx).Address)
		return err
	})
	c.Options = options
	return c, err
}

// askFor asks for one of a user's passkeys.
func (s *Service) askFor(ctx context.Context, u User) (options, challenge []byte, err error) {
	if err := s.needPasskeys(); err != nil {
		return nil, nil, err
	}
	k, err := s.keeper(ctx, u)
	if err != nil {
		return nil, nil, err
	}
	asked, session, err := s.passkeys.web.BeginLogin(k, webauthn.WithUserVerification(protocol.VerificationPreferred))
	if err != nil {
		return nil, nil, fmt.Errorf("asking for a passkey: %w", err)
	}
	return bothJSON(asked.Response, session)
}

// BeginPasskeySignIn asks for any passkey of this server; PasskeySignIn ends it.
func (s *Service) BeginPasskeySignIn(ctx context.Context, addr string) (c Ceremony, err error) {
	if err := s.needPasskeys(); err != nil {
		return c, err
	}
	// The passkey stands for the password too: the device has to know its owner.
	asked, session, err := s.passkeys.web.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return c, fmt.Errorf("asking for a passkey: %w", err)
	}
	return s.begin(ctx, step{purpose: forPasskey}, asked.Response, session, doorOf("", addr).address)
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

// PasskeySignIn opens a session for who shows a passkey and nothing else.
// Unauthenticated: no user here has it, or it does not fit what was asked.
func (s *Service) PasskeySignIn(ctx context.Context, ceremony string, answer []byte, addr string) (session string, p *Principal, err error) {
	d := doorOf("", addr)
	u, err := s.keeperOf(ctx, answer)
	if err == nil && u.ID != 0 {
		d = doorOf(nameKey(u.Name), addr)
	}
	if err == nil {
		err = s.mayTry(ctx, d)
	}
	if err != nil {
		return "", nil, err
	}
	st, err := s.tryStep(ctx, ceremony, forPasskey)
	if err != nil {
		return "", nil, err
	}
	accepted, err := s.checkPasskey(ctx, u, st, answer)
	if err == nil {
		session, p, err = s.enter(ctx, u, st, accepted, addr)
	}
	if errors.Is(err, errWrongFactor) {
		err = s.wrongFactor(ctx, d)
	}
	if err != nil {
		return "", nil, err
	}
	return session, p, s.countSuccess(ctx, d, u)
}

// keeperOf finds whose passkey an answer is of: the zero User where no user here has it.
func (s *Service) keeperOf(ctx context.Context, answer []byte) (u User, err error) {
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return u, nil
	}
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		found, err := passkeysWhere(ctx, tx, `credential_id = $1`, parsed.RawID)
		if err != nil || len(found) == 0 {
			return err
		}
		u, err = userByID(ctx, tx, found[0].UserID)
		return err
	})
	return u, err
}

// checkPasskey tells whether one of the user's passkeys signed what the step
// asks.
func (s *Service) checkPasskey(ctx context.Context, u User, st step, answer []byte) (accept, error) {
	if err := s.needPasskeys(); err != nil {
		return nil, err
	}
	k, err := s.keeper(ctx, u)
	if err != nil {
		return nil, err
	}
	used, err := s.verify(k, st, answer)
	if err != nil {
		s.log.InfoContext(ctx, "a passkey was refused", "user", u.Name, "error", err)
		return nil, errWrongFactor
	}
	return func(ctx context.Context, tx *db.Tx) error { return acceptPasskey(ctx, tx, used, s.now()) }, nil
}

func (s *Service) verify(k keeper, st step, answer []byte) (used Passkey, err error) {
	var session webauthn.SessionData
	if err := json.Unmarshal(st.challenge, &session); err != nil {
		return used, fmt.Errorf("no passkey was asked for: %w", err)
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return used, err
	}
	var c *webauthn.Credential
	if st.purpose == forPasskey {
		c, err = s.passkeys.web.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return k, nil }, session, parsed)
	} else {
		c, err = s.passkeys.web.ValidateLogin(k, session, parsed)
	}
	if err != nil {
		return used, err
	}
	if c.Authenticator.CloneWarning {
		return used, errors.New("its counter went back: there may be a copy of it")
	}
	for _, p := range k.passkeys {
		if string(p.credential.ID) == string(c.ID) {
			p.credential = *c
			return p, nil
		}
	}
	return used, errors.New("it is not this user's")
}
