package identity

import (
	"context"
	"errors"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// ErrPaused is the cause of the refusal of a paused user.
var ErrPaused = errors.New("the user is paused")

// saidBefore is how long before a pause users and administrators are told of it; at
// most half of the time that leads to one.
const saidBefore = 7 * 24 * time.Hour

// idleRule is the setting about users of single sign-on who do not sign in.
type idleRule struct {
	source string // of the users whom the provider names
	after  time.Duration
	from   time.Time // when it was turned on
}

// said is how long before it a pause is announced.
func (r *idleRule) said() time.Duration { return min(saidBefore, r.after/2) }

// UseIdle pauses users of that source whom single sign-on names, and who have not
// signed in for so long: their provider may not have them any more. Without it none
// are. Call it before Start, which notes from when the time is counted.
func (s *Service) UseIdle(source string, after time.Duration) {
	s.idle = &idleRule{source: source, after: after}
}

// Pause is when a user who does not sign in is paused: sessions, and tokens but for
// those of the scopes monitoring, builds and mail, are refused until the next
// sign-in. It is not stored, so a clock that was wrong for a while locks no user out
// for longer. The zero value is never.
type Pause struct {
	At          time.Time
	Near, Begun bool // it is to be announced; the user is paused
}

func (s *Service) pauseOf(u User) Pause {
	if s.idle == nil || u.Source != s.idle.source || u.subject == "" {
		return Pause{}
	}
	last := s.idle.from
	for _, t := range []time.Time{u.CreatedAt, u.SignedInAt} { // users are made by their first sign-in
		if t.After(last) {
			last = t
		}
	}
	now, p := s.now(), Pause{At: last.Add(s.idle.after)}
	p.Begun = !now.Before(p.At)
	p.Near = !p.Begun && !now.Before(p.At.Add(-s.idle.said()))
	return p
}

// SignInBy is until when the user has to sign in again, or what was shown is refused
// from then on; zero: there is nothing to say of that now.
func (p *Principal) SignInBy() time.Time {
	if !p.Pause.Near || !p.Scope.readsAll() {
		return time.Time{}
	}
	return p.Pause.At
}

// startIdle notes from when the time without a sign-in is counted: the start that
// turned it on, on any node, or, where the clock was ahead then, this one.
func (s *Service) startIdle(ctx context.Context) error {
	now := s.now()
	from, err := s.countedFrom(ctx)
	switch {
	case err != nil:
		return err
	case s.idle == nil && from.IsZero():
		return nil
	case s.idle == nil:
		return s.db.Do(ctx, "forgetting from when idle users are counted", `DELETE FROM identity_idle`)
	}
	if from.IsZero() || from.After(now) {
		err = s.db.Do(ctx, "noting from when idle users are counted", `INSERT INTO identity_idle (id, counted_from) VALUES (1, $1)
			ON CONFLICT (id) DO UPDATE SET counted_from = excluded.counted_from
			WHERE identity_idle.counted_from > excluded.counted_from`, db.Micros(now))
		if err == nil {
			from, err = s.countedFrom(ctx) // another node may have been quicker
		}
	}
	s.idle.from = from
	return err
}

func (s *Service) countedFrom(ctx context.Context) (from time.Time, err error) {
	_, err = s.db.Find(ctx, "reading from when idle users are counted", []any{db.At(&from)}, `SELECT counted_from FROM identity_idle`)
	return from, err
}

// refusePaused is an error of that code where the user is paused and what was shown does
// not work on; p may be remembered from before.
func (s *Service) refusePaused(p *Principal, code fault.Code) error {
	if p.Pause.At.IsZero() || s.now().Before(p.Pause.At) || !p.Scope.readsAll() {
		return nil
	}
	where := "in the console"
	for _, w := range s.signInProviders {
		if w.Source == p.Source && w.Page != "" {
			where = "at " + w.Page
		}
	}
	return fault.Wrap(ErrPaused, code, "%s has been paused since %s for want of a sign-in. Sign in again %s; then sessions and "+
		"tokens work again at once.",
		p.Ref(), p.Pause.At.UTC().Format("2006-01-02 15:04 UTC"), where)
}

// idleSince holds for enabled users u of the source $1 who are paused, or would be
// at a later time, where $2 is that time before it.
const idleSince = `u.source = $1 AND u.subject <> '' AND u.disabled_at = 0 AND u.signed_in_at <= $2 AND u.created_at <= $2`

// PausedTokens lists the tokens of paused users that work on.
func (s *Service) PausedTokens(ctx context.Context) (tokens []Token, err error) {
	if s.idle == nil || s.now().Before(s.idle.from.Add(s.idle.after)) {
		return nil, nil
	}
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]Token, error) {
		return tokensWhere(ctx, tx, theyGoOn+` AND (t.expires_at = 0 OR t.expires_at > $3) AND `+idleSince,
			s.idle.source, db.Micros(s.now().Add(-s.idle.after)), db.Micros(s.now()))
	})
}

// PausingUsers lists users whose pause is near, those first who did not sign in for
// the longest time; not their grants.
func (s *Service) PausingUsers(ctx context.Context, limit int) (users []User, err error) {
	if s.idle == nil {
		return nil, nil
	}
	soon := s.now().Add(s.idle.said())
	if soon.Before(s.idle.from.Add(s.idle.after)) {
		return nil, nil
	}
	return db.ReadList(ctx, s.db, "reading users who are paused soon", func(row db.Row) (User, error) {
		u, err := scanUser(row)
		u.Pause = s.pauseOf(u)
		return u, err
	}, selectUser+` WHERE id IN (SELECT u.id FROM identity_users u WHERE `+idleSince+`)
		AND (signed_in_at > $3 OR created_at > $3 OR CAST($4 AS BIGINT) > $3) ORDER BY signed_in_at, id LIMIT $5`,
		s.idle.source, db.Micros(soon.Add(-s.idle.after)), db.Micros(s.now().Add(-s.idle.after)), db.Micros(s.idle.from), limit)
}
