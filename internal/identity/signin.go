package identity

import (
	"context"
	"strings"
	"sync/atomic"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// touchEvery is how exact the last use of a token or session is kept: a write
// a minute, however often it is used.
const touchEvery = time.Minute

// Basic tells who shows a user name with a password or a token. The address is
// the client's, for throttling. Forbidden: the password is right, and the user has
// a second factor, of which no right code came along: see WithCode. Unauthenticated takes the same time whether
// the user exists or not; RateLimited comes after too many failures.
func (s *Service) Basic(ctx context.Context, user, password, addr string) (*Principal, error) {
	if strings.HasPrefix(password, tokenPrefix) {
		p, err := s.Bearer(ctx, password)
		if err == nil && nameKey(user) != nameKey(p.Name) {
			return nil, ErrUnauthenticated()
		}
		return p, err
	}
	u, err := s.checkPassword(ctx, user, password, addr)
	if err != nil {
		return nil, err
	}
	p := s.principal(u)
	if u.Factors.On() {
		if ctx.Value(codeKey{}) == nil {
			return nil, errPasswordAlone()
		}
		if p, err = s.withCode(ctx, p); err != nil {
			return nil, err
		}
		if err := s.countSuccess(ctx, attemptOf(nameKey(user), addr), u); err != nil {
			return nil, err
		}
	}
	return s.withCurrentGrants(ctx, p)
}

// SignIn opens a session for a user and their password. The session is what
// Session takes; only the browser keeps it. *FactorNeeded: the password is right,
// and SecondStep takes a second factor.
func (s *Service) SignIn(ctx context.Context, user, password, addr string) (session string, p *Principal, err error) {
	u, err := s.checkPassword(ctx, user, password, addr)
	if err != nil {
		return "", nil, err
	}
	principal, err := s.withCurrentGrants(ctx, s.principal(u))
	if err != nil {
		return "", nil, err
	}
	var pending string
	err = s.db.Write(ctx, func(tx *db.Tx) error { // u is up to half a second old
		if err := samePassword(ctx, tx, u); err != nil {
			return err
		}
		factors, err := factorsOf(ctx, tx, u.ID)
		if err != nil {
			return err
		}
		if factors.On() {
			pending, err = s.beginStep(ctx, tx, step{purpose: forFactor, user: u.ID}, addr)
			return err
		}
		session, principal.Session, err = s.openSession(ctx, tx, u, proved{ByPassword, s.now()}, addr)
		return err
	})
	switch {
	case err != nil:
		return "", nil, err
	case pending != "":
		return "", nil, &FactorNeeded{Pending: pending}
	}
	principal.ConfirmedAt = s.now()
	s.log.InfoContext(ctx, "signed in", "user", u.Name, "address", addr)
	return session, principal, nil
}

// samePassword is Unauthenticated where the user has had another password since u
// was read, or was disabled or deleted. Until tx ends that cannot happen: what
// changes a password ends the sessions that there are.
func samePassword(ctx context.Context, tx *db.Tx, u User) error {
	var id int64
	return tx.FindOne(ctx, "reading the password of a user", ErrUnauthenticated(), []any{&id},
		`SELECT id FROM identity_users WHERE id = $1 AND password = $2 AND disabled_at = 0`+tx.ForUpdate(), u.ID, u.password)
}

// CheckPassword is nil when the password is the user's; else it answers as
// Basic does. A token is no password. Conflict: the user, by the Ref, is one of a
// platform, which has the password.
func (s *Service) CheckPassword(ctx context.Context, user, password, addr string) error {
	if source, name := splitRef(user); source != Local {
		return errPasswordElsewhere(source, name)
	}
	_, err := s.checkPassword(ctx, user, password, addr)
	return err
}

// checkPassword returns the user who shows the right password.
func (s *Service) checkPassword(ctx context.Context, user, password, addr string) (User, error) {
	name := nameKey(user)
	d := attemptOf(name, addr)
	u, known, err := s.judge(ctx, d, name, password)
	if err != nil || known {
		return u, err
	}
	if s.platform.knows(u, name, password) {
		return s.checkAtPlatform(ctx, d, user, password)
	}
	done, err := s.hasher.limiter.Acquire(ctx, d.address)
	if err != nil {
		return User{}, err
	}
	defer done()
	// While this one waited others may have failed or succeeded, and the
	// password may have changed.
	if u, known, err = s.judge(ctx, d, name, password); err != nil || known {
		return u, err
	}
	return u, s.compare(ctx, d, u, name, password)
}

// compare computes the password and counts the result.
func (s *Service) compare(ctx context.Context, d attempt, u User, name, password string) error {
	stored := u.password
	if stored == "" { // no such user, or none with a password
		stored = s.hasher.unknownUser
	}
	if !matches(stored, password) || u.Disabled() {
		return s.wrongPassword(ctx, d)
	}
	if !u.Factors.On() { // else the second factor will count: guesses at it are not forgotten for a right password
		if err := s.countSuccess(ctx, d, u); err != nil {
			return err
		}
	}
	s.known.add(name, password, stored)
	return nil
}

// wrongPassword counts a failure and gives the answer to it.
func (s *Service) wrongPassword(ctx context.Context, d attempt) error {
	s.log.InfoContext(ctx, "sign-in failed", "user", d.account, "address", d.address)
	if err := s.countFailure(context.WithoutCancel(ctx), d); err != nil {
		return err // a guess that is not counted gets no answer
	}
	return ErrUnauthenticated()
}

// judge returns the user of the name, a local one first and the zero User for
// none, and whether the password is known to be theirs without computing anything.
func (s *Service) judge(ctx context.Context, d attempt, name, password string) (u User, known bool, err error) {
	if err := s.mayTry(ctx, d); err != nil {
		return User{}, false, err
	}
	u, err = s.recentUser(ctx, name)
	if err == nil && u.ID == 0 && s.platform != nil {
		u, err = s.recentUser(ctx, refOf(s.platform.source, name))
	}
	return u, err == nil && !u.Disabled() && s.known.has(name, password, u.proof()), err
}

// recentUser is User, with the zero User where there is none.
func (s *Service) recentUser(ctx context.Context, ref string) (User, error) {
	return s.users.Load(ref, func() (User, error) {
		u, err := s.User(ctx, ref)
		if fault.Is(err, fault.NotFound) {
			return User{}, nil // remembered too, so that it takes the same time
		}
		return u, err
	})
}

// tokenHolder is who has a token.
type tokenHolder struct {
	principal *Principal
	token     Token
	used      *atomic.Int64 // the last use that is stored, in microseconds
}

// Bearer tells who shows a token. Others get the same answer: it must not be
// changed.
func (s *Service) Bearer(ctx context.Context, token string) (*Principal, error) {
	if !strings.HasPrefix(token, tokenPrefix) {
		return nil, ErrUnauthenticated()
	}
	hash := secret.Fingerprint(token)
	h, err := s.tokens.Load(string(hash), func() (h tokenHolder, err error) {
		err = s.db.Read(ctx, func(tx *db.Tx) error {
			if h.token, err = tokenBy(ctx, tx, `t.hash = $1`, hash); err != nil {
				return err
			}
			h.principal, err = s.principalOf(ctx, tx, h.token.UserID)
			return err
		})
		if err != nil {
			return h, err
		}
		h.used = lastUse(h.token.UsedAt)
		h.principal.Scope, h.principal.Token = h.token.Scope, h.token.ID
		return h, nil
	})
	if fault.Is(err, fault.NotFound) || err == nil && h.token.over(s.now()) {
		return nil, ErrUnauthenticated()
	}
	if err != nil {
		return nil, err
	}
	if err := h.refusal(); err != nil {
		return nil, err
	}
	if err := s.refusePaused(h.principal, fault.Forbidden); err != nil {
		return nil, err
	}
	s.touch(ctx, h.used, `UPDATE identity_tokens SET used_at = $1 WHERE id = $2 AND used_at < $1`, h.token.ID)
	p, err := s.withCode(ctx, h.principal)
	if err != nil {
		return nil, err
	}
	return s.withCurrentGrants(ctx, p)
}

// sessionHolder is who has a session.
type sessionHolder struct {
	principal *Principal
	session   Session
	used      *atomic.Int64
}

// Session tells who shows a session, by what SignIn gave. Others get the same
// answer: it must not be changed.
func (s *Service) Session(ctx context.Context, session string) (*Principal, error) {
	hash := secret.Fingerprint(session)
	h, err := s.sessions.Load(string(hash), func() (h sessionHolder, err error) {
		err = s.db.Read(ctx, func(tx *db.Tx) error {
			if h.session, err = sessionBy(ctx, tx, `s.hash = $1`, hash); err != nil {
				return err
			}
			h.principal, err = s.principalOf(ctx, tx, h.session.UserID)
			return err
		})
		if err != nil {
			return h, err
		}
		h.used = lastUse(h.session.UsedAt)
		h.principal.Session, h.principal.ConfirmedAt, h.principal.EnrolsUntil = h.session.ID, h.session.ConfirmedAt, h.session.EnrolsUntil
		return h, nil
	})
	if fault.Is(err, fault.NotFound) || err == nil && h.session.over(s.now()) {
		return nil, ErrUnauthenticated()
	}
	if err != nil {
		return nil, err
	}
	if err := s.refusePaused(h.principal, fault.Unauthenticated); err != nil {
		return nil, err
	}
	if Attended(ctx) {
		s.touch(ctx, h.used, `UPDATE identity_sessions SET used_at = $1 WHERE id = $2 AND used_at < $1`, h.session.ID)
	}
	p, err := s.withCode(ctx, h.principal)
	if err != nil {
		return nil, err
	}
	return s.withCurrentGrants(ctx, p)
}

// principalOf returns the user; NotFound where they are disabled.
func (s *Service) principalOf(ctx context.Context, tx *db.Tx, user int64) (*Principal, error) {
	u, err := userByID(ctx, tx, user)
	if err != nil {
		return nil, err
	}
	if u.Disabled() {
		return nil, fault.New(fault.NotFound, "The user %s is disabled.", u.Ref())
	}
	err = s.loadGrants(ctx, tx, &u)
	return s.principal(u), err
}

func lastUse(at time.Time) *atomic.Int64 {
	var used atomic.Int64
	used.Store(db.Micros(at))
	return &used
}

// touch stores that something was used now, if a minute has passed since that
// was last stored. It is not worth a refusal: what cannot be stored is logged.
func (s *Service) touch(ctx context.Context, used *atomic.Int64, update string, id int64) {
	now, last := db.Micros(s.now()), used.Load()
	if now-last < touchEvery.Microseconds() || !used.CompareAndSwap(last, now) {
		return
	}
	if err := s.db.Do(ctx, "storing the last use", update, now, id); err != nil {
		s.log.WarnContext(ctx, "the last use of a token or session was not stored", "error", err)
	}
}
