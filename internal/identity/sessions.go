package identity

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	// sessionIdle ends an unused session: a working day with its break.
	sessionIdle = 8 * time.Hour
	// sessionLife ends any session: once a week one signs in again.
	sessionLife = 7 * 24 * time.Hour
	// maxSessions is how many a user may have; a further one ends the one that was
	// longest not used. A person has a few browsers: more are of a script that
	// signs in as people do, and each is a row and a way in for a week.
	maxSessions = 100
)

// Session is a sign-in to the console.
type Session struct {
	ID        int64     `json:"id" doc:"Names it when it is ended."`
	User      string    `json:"user" doc:"Whose it is."` // the user's Ref
	Address   string    `json:"address" doc:"Where it began."`
	Browser   string    `json:"browser,omitempty" doc:"The browser in which it began, where it is known." example:"Firefox on Linux"`
	Current   bool      `json:"current" doc:"It is the one that asks."` // in lists
	CreatedAt time.Time `json:"createdAt" doc:"When it began."`
	UsedAt    time.Time `json:"lastUsedAt" doc:"To the minute."`
	ExpiresAt time.Time `json:"expiresAt" doc:"At the latest; after eight hours without use sooner."`

	UserID      int64     `json:"-"`
	ConfirmedAt time.Time `json:"-"` // when the password or a second factor was last shown in it
	EnrolsUntil time.Time `json:"-"` // until when it may set up the first second factor; zero: it may not
}

func (s Session) over(now time.Time) bool {
	return !now.Before(s.ExpiresAt) || now.Sub(s.UsedAt) >= sessionIdle
}

// The ways to sign in that the audit trail names besides the ids of SignInProviders.
const (
	ByPassword = "password"
	ByFactor   = "password and second factor"
	ByPasskey  = "passkey"
)

// proved is how and when a user showed who is there.
type proved struct {
	way string
	at  time.Time
}

// openSession stores a new session of the user and the time of the sign-in, and
// drops sessions that are over or more than maxSessions. Unauthenticated: the user was disabled or deleted
// meanwhile.
func (s *Service) openSession(ctx context.Context, tx *db.Tx, u User, proof proved, address string) (plain string, id int64, err error) {
	plain = secret.Random(secretBytes)
	now := s.now()
	if err := tx.Do(ctx, "deleting sessions", `DELETE FROM identity_sessions WHERE expires_at <= $1 OR used_at <= $2`,
		db.Micros(now), db.Micros(now.Add(-sessionIdle))); err != nil {
		return "", 0, err
	}
	if err := tx.ChangeOne(ctx, "storing the time of a sign-in", ErrUnauthenticated(),
		`UPDATE identity_users SET signed_in_at = $1 WHERE id = $2 AND disabled_at = 0`, db.Micros(now), u.ID); err != nil {
		return "", 0, err
	}
	ended, err := tx.Changed(ctx, "ending sessions", `DELETE FROM identity_sessions WHERE id IN
		(SELECT id FROM identity_sessions WHERE user_id = $1 ORDER BY used_at DESC, id DESC LIMIT 1000 OFFSET $2)`, u.ID, maxSessions-1)
	if err != nil {
		return "", 0, err
	}
	if ended > 0 || !s.pauseOf(u).At.IsZero() { // what is remembered has the pause of before
		s.changed(tx)
	}
	if err := tx.Get(ctx, "storing a session", []any{&id},
		`INSERT INTO identity_sessions (user_id, hash, address, browser, created_at, used_at, expires_at, confirmed_at)
		VALUES ($1, $2, $3, $4, $5, $5, $6, $7) RETURNING id`,
		u.ID, secret.Fingerprint(plain), address, browserOf(OriginOf(ctx).UserAgent), db.Micros(now), db.Micros(now.Add(sessionLife)),
		db.Micros(proof.at)); err != nil {
		return "", 0, err
	}
	return plain, id, recordSignIn(ctx, tx, u, proof.way, id, address)
}

// recordSignIn notes in the audit trail how a user signed in; ctx does not know
// the user yet.
func recordSignIn(ctx context.Context, tx *db.Tx, u User, way string, session int64, address string) error {
	e := WithActor(ctx, audit.Entry{
		Area: "identity", Action: "sign in", Object: "session", ObjectID: idText(session),
		After: map[string]string{"user": u.Ref(), "way": way, "address": address},
	})
	e.Who, e.Source = u.Name, u.Source
	return audit.Record(ctx, tx, e)
}

// Sessions lists a user's sessions that are not over, the oldest first,
// after the one of that id.
func (s *Service) Sessions(ctx context.Context, user string, after int64, limit int) (sessions []Session, err error) {
	now := s.now()
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		u, err := userByName(ctx, tx, user)
		if err != nil {
			return err
		}
		sessions, err = db.List(ctx, tx, "reading sessions", scanSession, selectSession+` WHERE s.user_id = $1 AND s.id > $2
			AND s.expires_at > $3 AND s.used_at > $4 ORDER BY s.id LIMIT $5`, u.ID, after, db.Micros(now),
			db.Micros(now.Add(-sessionIdle)), limit)
		return err
	})
	if who := From(ctx); who != nil {
		for i := range sessions {
			sessions[i].Current = sessions[i].ID == who.Session
		}
	}
	return sessions, err
}

// SessionByID returns a session.
func (s *Service) SessionByID(ctx context.Context, id int64) (Session, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) (Session, error) { return sessionBy(ctx, tx, `s.id = $1`, id) })
}

// EndSession ends a session by its id.
func (s *Service) EndSession(ctx context.Context, id int64) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		session, err := sessionBy(ctx, tx, `s.id = $1`, id)
		if err != nil {
			return err
		}
		if err := deleteOne(ctx, tx, "session", `DELETE FROM identity_sessions WHERE id = $1`, id); err != nil {
			return err
		}
		s.changed(tx)
		return record(ctx, tx, "revoke", "session", idText(id), map[string]string{"user": session.User, "address": session.Address}, nil)
	})
}

// EndSessions ends all sessions of a user but the one of that id, 0 for none, and
// answers how many there were.
func (s *Service) EndSessions(ctx context.Context, user string, but int64) (ended int, err error) {
	err = s.changeUser(ctx, user, func(tx *db.Tx, u User) error {
		ended = 0
		n, err := tx.Changed(ctx, "ending sessions", `DELETE FROM identity_sessions WHERE user_id = $1 AND id <> $2`, u.ID, but)
		if err != nil || n == 0 {
			return err
		}
		ended = int(n)
		s.changed(tx)
		return record(ctx, tx, "revoke", "sessions", "", map[string]string{"user": u.Ref(), "sessions": idText(n)}, nil)
	})
	return ended, err
}

// SignOut ends a session by what its cookie says; one that is over is no error.
func (s *Service) SignOut(ctx context.Context, session string) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "deleting a session", `DELETE FROM identity_sessions WHERE hash = $1`,
			secret.Fingerprint(session)); err != nil {
			return err
		}
		s.changed(tx)
		return nil
	})
}

const selectSession = `SELECT s.id, s.user_id, u.source, u.name, s.address, s.browser, s.created_at, s.used_at, s.expires_at,
	s.confirmed_at, s.enrols_until
	FROM identity_sessions s JOIN identity_users u ON u.id = s.user_id`

func sessionBy(ctx context.Context, tx *db.Tx, condition string, arg any) (Session, error) {
	return db.One(ctx, tx, fault.New(fault.NotFound, "There is no such session."), scanSession, selectSession+` WHERE `+condition, arg)
}

func scanSession(row db.Row) (s Session, err error) {
	var source, name string
	if err := row.Scan(&s.ID, &s.UserID, &source, &name, &s.Address, &s.Browser, db.At(&s.CreatedAt), db.At(&s.UsedAt),
		db.At(&s.ExpiresAt), db.At(&s.ConfirmedAt), db.At(&s.EnrolsUntil)); err != nil {
		return s, fmt.Errorf("reading a session: %w", err)
	}
	s.User = refOf(source, name)
	return s, nil
}
