package identity

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// recordEvery is how often a sign-in from the same address is noted again: a write
// a day.
const recordEvery = 24 * time.Hour

// standing is what the database knows about an account and an address.
type standing struct {
	until      time.Time // no attempt before
	failed     bool      // the pair has failures to forget
	signedInAt time.Time // the last success of the account from the address
}

// standingOf returns a standing that may be half a second old.
func (s *Service) standingOf(ctx context.Context, d attempt) (standing, error) {
	return s.attempts.Load(d, func() (st standing, err error) {
		err = s.db.Read(ctx, func(tx *db.Tx) error {
			st, err = s.standing(ctx, tx, d)
			return err
		})
		return st, err
	})
}

// mayTry returns fault.RateLimited while a pause lasts.
func (s *Service) mayTry(ctx context.Context, d attempt) error {
	st, err := s.standingOf(ctx, d)
	if err != nil {
		return err
	}
	return s.paused(st.until)
}

// paused returns fault.RateLimited until that time.
func (s *Service) paused(until time.Time) error {
	wait := until.Sub(s.now())
	if wait <= 0 {
		return nil
	}
	e := fault.New(fault.RateLimited, "Too many failed sign-ins. Try again in %s.", wait.Round(time.Second))
	e.RetryAfter = wait
	return e
}

func (s *Service) standing(ctx context.Context, tx *db.Tx, d attempt) (st standing, err error) {
	if st.signedInAt, err = s.signedInAt(ctx, tx, d); err != nil {
		return st, err
	}
	counters := d.counters()
	pair, err := failuresOf(ctx, tx, counters[ofPair].key, "")
	if err != nil {
		return st, err
	}
	st.failed, st.until = len(pair.at) > 0, pair.until
	if s.now().Sub(st.signedInAt) < exemptFor {
		return st, nil
	}
	address, err := failuresOf(ctx, tx, counters[ofAddress].key, "")
	if address.until.After(st.until) {
		st.until = address.until
	}
	return st, err
}

func (s *Service) signedInAt(ctx context.Context, tx *db.Tx, d attempt) (at time.Time, err error) {
	platform := Local
	if s.platform != nil {
		platform = s.platform.source
	}
	_, err = tx.Find(ctx, "reading the addresses of a user", []any{db.At(&at)},
		`SELECT a.signed_in_at FROM identity_addresses a JOIN identity_users u ON u.id = a.user_id
		WHERE u.source IN ($1, $2) AND u.name_key = $3 AND a.address = $4
		ORDER BY CASE u.source WHEN $1 THEN 0 ELSE 1 END LIMIT 1`, Local, platform, d.account, d.address)
	return at, err
}

func failuresOf(ctx context.Context, tx *db.Tx, key []byte, lock string) (f failures, err error) {
	var times []byte
	_, err = tx.Find(ctx, "reading failed sign-ins", []any{&times, db.At(&f.until), &f.pauses},
		`SELECT times, until, pauses FROM identity_failures WHERE counter = $1`+lock, key)
	f.at = decodeTimes(times)
	return f, err
}

// storeFailures stores the failures of a counter to which one was added.
func storeFailures(ctx context.Context, tx *db.Tx, key []byte, f failures) error {
	return tx.Do(ctx, "counting a failed sign-in",
		`INSERT INTO identity_failures (counter, times, until, pauses, last_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (counter) DO UPDATE SET times = excluded.times, until = excluded.until, pauses = excluded.pauses, last_at = excluded.last_at`,
		key, encodeTimes(f.at), db.Micros(f.until), f.pauses, db.Micros(f.last()))
}

func forgetFailures(ctx context.Context, tx *db.Tx, key []byte) error {
	return tx.Do(ctx, "forgetting failed sign-ins", `DELETE FROM identity_failures WHERE counter = $1`, key)
}

// countFailure counts a failed sign-in on all nodes together.
func (s *Service) countFailure(ctx context.Context, d attempt) error {
	now := s.now()
	err := s.db.Write(ctx, func(tx *db.Tx) error {
		attacked := false
		for i, c := range d.counters() {
			f, err := failuresOf(ctx, tx, c.key, tx.ForUpdate()) // another node may count at the same time
			if err != nil {
				return err
			}
			if i == ofPair && attacked {
				at, err := s.signedInAt(ctx, tx, d)
				if err != nil {
					return err
				}
				if now.Sub(at) >= exemptFor { // owners may mistype where they are known
					c.limit = attackedLimit()
				}
			}
			f.add(now, c.limit)
			attacked = attacked || i == ofAccount && f.pauses > 0
			if err := storeFailures(ctx, tx, c.key, f); err != nil {
				return err
			}
		}
		return tx.Do(ctx, "forgetting failed sign-ins", `DELETE FROM identity_failures WHERE last_at < $1`, db.Micros(now.Add(-forgiveAfter)))
	})
	s.attempts.Clear()
	return err
}

// countSuccess forgets the failures of the pair, and notes the address and the
// time.
func (s *Service) countSuccess(ctx context.Context, d attempt, u User) error {
	now := s.now()
	st, err := s.standingOf(ctx, d)
	if err != nil || !st.failed && now.Sub(st.signedInAt) < recordEvery {
		return err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if err := forgetFailures(ctx, tx, d.counters()[ofPair].key); err != nil {
			return err
		}
		// SELECT: the user may have been deleted meanwhile.
		if err := tx.Do(ctx, "storing the address of a sign-in",
			`INSERT INTO identity_addresses (user_id, address, signed_in_at) SELECT id, $2, $3 FROM identity_users WHERE id = $1
			ON CONFLICT (user_id, address) DO UPDATE SET signed_in_at = excluded.signed_in_at`, u.ID, d.address, db.Micros(now)); err != nil {
			return err
		}
		if err := tx.Do(ctx, "storing the time of a sign-in",
			`UPDATE identity_users SET signed_in_at = $2 WHERE id = $1 AND signed_in_at < $2`, u.ID, db.Micros(now)); err != nil {
			return err
		}
		if !s.pauseOf(u).At.IsZero() { // what is remembered has the pause of before
			s.changed(tx)
		}
		return tx.Do(ctx, "forgetting addresses", `DELETE FROM identity_addresses WHERE user_id = $1 AND signed_in_at < $2`, u.ID,
			db.Micros(now.Add(-exemptFor)))
	})
	s.attempts.Clear()
	return err
}
