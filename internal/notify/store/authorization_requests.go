package store

import (
	"context"
	"encoding/hex"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// KeepRequest keeps a request, and drops those that are over and those of the
// user that are too many.
func (s *Store) KeepRequest(ctx context.Context, r notify.AuthorizationRequest) error {
	state := hashState(r.State)
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "dropping old requests for authorisations", `DELETE FROM notify_authorization_requests WHERE expires_at <= $1
			OR state IN (SELECT state FROM notify_authorization_requests WHERE user_id = $2 ORDER BY made_at DESC, state LIMIT $3 OFFSET $4)`,
			db.Micros(r.MadeAt), r.UserID, notify.MaxRequests, notify.MaxRequests-1); err != nil {
			return err
		}
		return tx.Do(ctx, "keeping a request for an authorisation",
			`INSERT INTO notify_authorization_requests (state, connection, user_id, session_id, verifier, back, made_at, expires_at)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`, state, r.Connection, r.UserID, r.Session,
			s.box.Seal(r.Verifier.Reveal(), "notify_authorization_requests", "verifier", state),
			clean(r.Back), db.Micros(r.MadeAt), db.Micros(r.ExpiresAt))
	})
}

// TakeRequest returns a request that was made by that user, in that session or in
// none, and is not over; it is gone after that. fault.Invalid: there is none.
func (s *Store) TakeRequest(
	ctx context.Context, connection string, state secret.Value, userID, session int64, now time.Time,
) (r notify.AuthorizationRequest, err error) {
	row := hashState(state)
	var verifier []byte
	none := fault.New(fault.Invalid, "This answer from the platform matches none of your requests: it was already used, took more than "+
		"10 minutes, or belongs to another sign-in. Nothing has changed. Start again.")
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		return tx.FindOne(ctx, "taking a request for an authorisation", none,
			[]any{&r.Connection, &r.UserID, &r.Session, &verifier, &r.Back, db.At(&r.MadeAt), db.At(&r.ExpiresAt)},
			`DELETE FROM notify_authorization_requests WHERE state = $1 AND connection = $2 AND user_id = $3
			AND (session_id = 0 OR session_id = $4) AND expires_at > $5
			RETURNING connection, user_id, session_id, verifier, back, made_at, expires_at`,
			row, clean(connection), userID, session, db.Micros(now))
	})
	if err != nil {
		return r, err
	}
	r.State, r.Verifier = state, s.unseal(verifier, "notify_authorization_requests", "verifier", row)
	return r, nil
}

// hashState is what is kept of a state: 256 random bits need no more than their
// SHA-256.
func hashState(state secret.Value) string {
	return hex.EncodeToString(secret.Fingerprint(state.Reveal()))
}
