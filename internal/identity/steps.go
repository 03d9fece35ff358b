package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	// stepLife is how long something begun waits for its second step: enough to
	// find a phone, and short for a browser that was left.
	stepLife = 10 * time.Minute
	// stepTries is how often a second step may go wrong before the first is asked
	// for again. The throttle of sign-ins counts on beyond it.
	stepTries = 5
	// stepsAtOnce bounds what a user, or visitors who are not known yet, may begin at
	// one address, which may be that of a proxy.
	stepsAtOnce = 100
)

// purpose is what a step is the second one of.
type purpose string

const (
	forFactor   purpose = "factor"   // a sign-in whose password was right
	forPasskey  purpose = "passkey"  // a sign-in with nothing but a passkey
	forRegister purpose = "register" // a new passkey
	forConfirm  purpose = "confirm"  // a session that asks for a passkey again
)

// step is something begun.
type step struct {
	hash      []byte
	purpose   purpose
	user      int64  // 0: not known yet
	session   int64  // in which it was begun; 0: in none
	challenge []byte // what a passkey has to sign; nil for none
}

// way is how a user has signed in who came this far.
func (st step) way() string {
	if st.purpose == forPasskey {
		return ByPasskey
	}
	return ByFactor
}

// beginStep stores a step. plain finds it again; only the browser keeps it.
func (s *Service) beginStep(ctx context.Context, tx *db.Tx, st step, address string) (plain string, err error) {
	plain = secret.Random(secretBytes)
	now, expires := s.now(), s.now().Add(stepLife)
	if err := tx.Do(ctx, "deleting steps", `DELETE FROM identity_steps WHERE expires_at <= $1`, db.Micros(now)); err != nil {
		return "", err
	}
	address = attemptOf("", address).address
	if err := tx.Do(ctx, "deleting steps", `DELETE FROM identity_steps WHERE hash IN (SELECT hash FROM identity_steps WHERE address = $1
		AND COALESCE(user_id, 0) = $2
		ORDER BY expires_at DESC LIMIT 1000 OFFSET $3)`, address, st.user, stepsAtOnce-1); err != nil {
		return "", err
	}
	if err := tx.Do(ctx, "storing a step",
		`INSERT INTO identity_steps (hash, purpose, user_id, session_id, address, challenge, tries, expires_at)
		VALUES ($1, $2, $3, $4, $5, $6, 0, $7)`,
		secret.Fingerprint(plain), string(st.purpose), sql.NullInt64{Int64: st.user, Valid: st.user != 0}, st.session, address,
		orEmpty(st.challenge), db.Micros(expires)); err != nil {
		return "", err
	}
	return plain, nil
}

// stepOf finds a step that waits. Unauthenticated: it is over.
func (s *Service) stepOf(ctx context.Context, plain string, of purpose) (step, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (step, error) {
		return db.One(ctx, tx, errStepOver(), scanStep, `SELECT hash, purpose, user_id, session_id, challenge FROM identity_steps
			WHERE hash = $1 AND purpose = $2 AND expires_at > $3 AND tries < $4`,
			secret.Fingerprint(plain), string(of), db.Micros(s.now()), stepTries)
	})
}

// tryStep counts a try at a step before what is shown is looked at, so that many
// at once are no more than stepTries.
func (s *Service) tryStep(ctx context.Context, plain string, of purpose) (step, error) {
	return db.Write(ctx, s.db, func(tx *db.Tx) (step, error) {
		return db.One(ctx, tx, errStepOver(), scanStep, `UPDATE identity_steps SET tries = tries + 1
			WHERE hash = $1 AND purpose = $2 AND expires_at > $3 AND tries < $4 RETURNING hash, purpose, user_id, session_id, challenge`,
			secret.Fingerprint(plain), string(of), db.Micros(s.now()), stepTries)
	})
}

// challengeStep has a step wait for a passkey that signs this.
func challengeStep(ctx context.Context, tx *db.Tx, st step, challenge []byte) error {
	return tx.Do(ctx, "storing a challenge", `UPDATE identity_steps SET challenge = $1 WHERE hash = $2`, challenge, st.hash)
}

// endStep takes a step that was done. Unauthenticated: another was quicker.
func endStep(ctx context.Context, tx *db.Tx, st step) error {
	return tx.ChangeOne(ctx, "deleting a step", errStepOver(), `DELETE FROM identity_steps WHERE hash = $1`, st.hash)
}

func scanStep(row db.Row) (st step, err error) {
	var user sql.NullInt64
	if err := row.Scan(&st.hash, &st.purpose, &user, &st.session, &st.challenge); err != nil {
		return st, fmt.Errorf("reading a step: %w", err)
	}
	st.user = user.Int64
	return st, nil
}

// errStepOver is the answer to a step that was done, took too long, or went wrong
// too often.
func errStepOver() error {
	return fault.Wrap(ErrStepOver, fault.Unauthenticated, "This took too long or was tried too often. Start again.")
}

// ErrStepOver is the cause of errors of a second step whose first one is to be
// done again.
var ErrStepOver = errors.New("the step is over")

// orEmpty is b as a column takes it that is never null.
func orEmpty(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}
