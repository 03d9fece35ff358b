package identity

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	// recoveryCodes are made at once: enough for years of lost phones, and few
	// enough for a note.
	recoveryCodes = 10
	// recoveryBytes are 80 bits, so that a code is not found from its SHA-256, and
	// 16 characters to type.
	recoveryBytes = 10
)

// base32Text is how secrets are typed: one case, and no 0, 1 or 8.
var base32Text = base32.StdEncoding.WithPadding(base32.NoPadding)

func base32Of(b []byte) string { return base32Text.EncodeToString(b) }

// newTypedCode makes a code of recoveryBytes.
func newTypedCode() string {
	random := make([]byte, recoveryBytes)
	rand.Read(random) // never fails
	return base32Of(random)
}

// typed is a code of newTypedCode as it is shown.
func typed(code string) secret.Value {
	return secret.New(code[:4] + "-" + code[4:8] + "-" + code[8:12] + "-" + code[12:])
}

// plainCode is a code without what people type between its characters.
func plainCode(code secret.Value) string {
	return strings.ToUpper(strings.NewReplacer(" ", "", "-", "", "\t", "").Replace(code.Reveal()))
}

// NewRecoveryCodes makes the recovery codes of who asks anew; those before are
// no longer right. Conflict: there is no second factor that they could replace.
func (s *Service) NewRecoveryCodes(ctx context.Context) (codes []secret.Value, err error) {
	who, err := s.own(ctx)
	if err != nil {
		return nil, err
	}
	err = s.changeUser(ctx, who.Ref(), func(tx *db.Tx, u User) (err error) {
		if !u.Factors.On() {
			return fault.New(fault.Conflict, "Recovery codes come with a second factor. Set one up first.")
		}
		if codes, err = makeRecovery(ctx, tx, u.ID); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "make recovery codes", "user", u.Ref(), nil, nil)
	})
	return codes, err
}

// firstRecovery makes codes with a user's first factor.
func firstRecovery(ctx context.Context, tx *db.Tx, before User) ([]secret.Value, error) {
	if before.Factors.On() {
		return nil, nil
	}
	if err := firstEnrolled(ctx, tx, before.ID); err != nil {
		return nil, err
	}
	return makeRecovery(ctx, tx, before.ID)
}

func makeRecovery(ctx context.Context, tx *db.Tx, user int64) (codes []secret.Value, err error) {
	if err := tx.Do(ctx, "deleting recovery codes", `DELETE FROM identity_recovery_codes WHERE user_id = $1`, user); err != nil {
		return nil, err
	}
	for range recoveryCodes {
		code := newTypedCode()
		if err := tx.Do(ctx, "storing a recovery code", `INSERT INTO identity_recovery_codes (user_id, hash) VALUES ($1, $2)`, user,
			secret.Fingerprint(code)); err != nil {
			return nil, err
		}
		codes = append(codes, typed(code))
	}
	return codes, nil
}

// acceptRecovery uses a recovery code up.
func acceptRecovery(ctx context.Context, tx *db.Tx, user User, code string) error {
	if err := tx.ChangeOne(ctx, "using a recovery code", errWrongFactor,
		`DELETE FROM identity_recovery_codes WHERE user_id = $1 AND hash = $2`, user.ID, secret.Fingerprint(code)); err != nil {
		return err
	}
	return record(With(ctx, user.principal()), tx, "use recovery code", "user", user.Ref(), nil, nil)
}
