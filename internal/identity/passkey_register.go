package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// NewPasskey begins the registration of a passkey of the caller; AddPasskey ends it.
func (s *Service) NewPasskey(ctx context.Context) (c Ceremony, err error) {
	_, u, k, err := s.registering(ctx)
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

func (s *Service) registering(ctx context.Context) (who enroller, u User, k keeper, err error) {
	if who, err = s.enrolling(ctx); err != nil {
		return who, u, k, err
	}
	if err := s.needPasskeys(); err != nil {
		return who, u, k, err
	}
	u, err = db.Read(ctx, s.db, func(tx *db.Tx) (User, error) { return who.user(ctx, tx, s) })
	if err != nil {
		return who, u, k, err
	}
	if u.Factors.Passkeys >= maxPasskeys {
		return who, u, k, fault.New(fault.Conflict, "You have %d passkeys already. Remove one first.", maxPasskeys)
	}
	k, err = s.keeper(ctx, u)
	return who, u, k, err
}

// AddPasskey stores the passkey that a browser made. recovery are the codes that
// were made with the first factor. Conflict: this one was not made for what
// NewPasskey asked.
func (s *Service) AddPasskey(ctx context.Context, name, ceremony string, answer []byte) (recovery []secret.Value, err error) {
	if err := judgePasskey(name); err != nil {
		return nil, err
	}
	who, u, k, err := s.registering(ctx)
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
		before, err := who.user(ctx, tx, s)
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
