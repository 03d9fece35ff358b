package identity

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/secret"
)

// guessLimit is how many codes of an authenticator app may be tried before a
// pause. Three of a million are right at a time, and only who has the password, a
// session or a token gets to try them: unlike a password, a code is not guarded by
// its length.
func guessLimit() failureLimit { return failureLimit{10, 5 * time.Minute} }

// guessCounter counts the codes that are tried for a user. All addresses share one
// counter, since an attacker may have any number of them. Those from which the user
// signed in lately have their own, so that the attacker locks the user out of
// nothing there.
func guessCounter(u User, d attempt, signedInAt, now time.Time) []byte {
	key := "codes\x00" + idText(u.ID)
	if now.Sub(signedInAt) < exemptFor {
		key += "\x00" + d.address
	}
	return secret.Fingerprint(key)
}

// countGuess counts a code before it is looked at, so that many at once, on all
// nodes, are no more than guessLimit. The code that is right forgets the counter.
// RateLimited: there were too many.
func (s *Service) countGuess(ctx context.Context, u User, d attempt) (counter []byte, err error) {
	now := s.now()
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		at, err := s.signedInAt(ctx, tx, d)
		if err != nil {
			return err
		}
		counter = guessCounter(u, d, at, now)
		if tx.Dialect() == db.Postgres { // another node may count at the same time, and only a row can be locked
			if err := tx.Do(ctx, "counting a code", `INSERT INTO identity_failures (counter, times, until, pauses, last_at) VALUES ($1, $2, 0, 0, $3)
				ON CONFLICT (counter) DO NOTHING`, counter, encodeTimes(nil), db.Micros(now)); err != nil {
				return err
			}
		}
		f, err := failuresOf(ctx, tx, counter, tx.ForUpdate())
		if err != nil {
			return err
		}
		if err := s.paused(f.until); err != nil {
			return err
		}
		f.add(now, guessLimit())
		return storeFailures(ctx, tx, counter, f)
	})
	return counter, err
}
