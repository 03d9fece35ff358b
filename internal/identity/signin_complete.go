package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// providerPatience is how long one sign-in may wait for its provider: for the keys, the
// exchange of the code, the user, and what the user administers.
const providerPatience = 25 * time.Second

// Answer is what a provider sends a browser back with (RFC 6749, 4.1.2).
type Answer struct {
	State string
	Code  secret.Value
	Error string // its code, such as access_denied

	Issuer string // who the answer says that it is from (RFC 9207); "": it does not say
}

// CompleteSignIn opens a session for the user whom a provider proved, and gives
// the page that the user came from as soon as that is known. Invalid: this
// browser, by the secret in its cookie, did not begin the sign-in, or it is over
// or used. Unauthenticated: the user, the provider or Outrigger refuses.
// Unavailable: the provider or the platform does not answer. A session that was to
// be confirmed is replaced by one of the same user, or stays as it is: another user
// is Unauthenticated.
func (s *Service) CompleteSignIn(ctx context.Context, way, browser string, a Answer, addr string) (session, back string, err error) {
	w := s.signInProvider(way)
	if w == nil {
		return "", "", fault.New(fault.NotFound, "There is no way to sign in called %q.", way)
	}
	b, err := s.takeSignIn(ctx, way, browser, a.State)
	if err != nil {
		return "", "", err
	}
	back = b.back
	c := completion{SignInProvider: w, begun: b, Proofs: proofsOf(browser, a.State), answer: a, addr: addr}
	c.Issuer = a.Issuer
	u, at, err := s.accountUser(ctx, &c)
	if err != nil {
		s.log.WarnContext(ctx, "sign-in failed", "way", way, "address", addr, "error", err)
		return "", back, err
	}
	if p := From(ctx); b.again && p != nil && p.UserID != u.ID {
		return "", back, fault.New(fault.Unauthenticated, "You are signed in to Outrigger as %s, and signed in with %s as %s. "+
			"Sign in there as the same user, or sign out of Outrigger first.", p.Ref(), w.Name, u.Ref())
	}
	if _, err := s.withCurrentGrants(ctx, s.principal(u)); err != nil {
		return "", back, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		session, _, err = s.openSession(ctx, tx, u, proved{way, at}, addr)
		return err
	})
	if err != nil {
		return "", back, err
	}
	s.log.InfoContext(ctx, "signed in", "user", u.Ref(), "way", way, "address", addr)
	return session, back, nil
}

// completion is a sign-in with the answer of its provider.
type completion struct {
	*SignInProvider
	begun
	Proofs
	answer Answer
	addr   string // of the browser
}

// accountUser returns the user of the account that the answer proves, and when that user
// signed in at the provider; zero if it does not say.
func (s *Service) accountUser(ctx context.Context, c *completion) (u User, at time.Time, err error) {
	account, err := s.ask(ctx, c)
	if errors.Is(err, errNotAllowed) {
		err = cmp.Or(s.endGroups(ctx, c.SignInProvider, account), err)
	}
	if err != nil {
		return u, at, err
	}
	if at, err = s.shownAt(c, account.AuthenticatedAt); err != nil {
		return u, at, err
	}
	if account.Directory != nil {
		s.warnOfMore(ctx, *account.Directory)
	}
	u, err = s.admitAccount(ctx, c.SignInProvider, account)
	switch {
	case err != nil:
		return u, at, err
	case u.Disabled():
		return u, at, fault.New(fault.Unauthenticated, "The user %s is disabled in Outrigger. Ask an administrator.", u.Ref())
	}
	return u, at, nil
}

// shownSkew is how far the provider's clock may be off in either direction. Servers
// that set their clocks by the network are within a second; a minute is what ID
// tokens are allowed when they expire.
const shownSkew = time.Minute

// shownAt judges when the provider says that the user signed in there: not in the
// future, and, where the user was to sign in again, not before that was asked for.
func (s *Service) shownAt(c *completion, at time.Time) (time.Time, error) {
	now := s.now()
	switch {
	case at.After(now.Add(shownSkew)):
		return at, fault.New(fault.Unauthenticated, "The answer of %s was refused, because its time of the sign-in (the claim auth_time) is "+
			"in the future. Ask an administrator to check the clocks of both servers.", c.Name)
	case c.again && at.IsZero():
		return at, fault.New(fault.Unauthenticated, "%s did not say when you signed in there: its answer has no usable claim "+
			"auth_time. Ask an administrator to have the provider send it, or for a one-time code with which you set up a second factor "+
			"(outrigger users confirm --local).", c.Name)
	case c.again && at.Before(c.at.Truncate(time.Second).Add(-shownSkew)):
		return at, fault.New(fault.Unauthenticated, "%s did not ask you to sign in again: the time of your sign-in there (the claim "+
			"auth_time) is from before. Sign out there, and start again.", c.Name)
	case at.After(now):
		return now, nil
	}
	return at, nil
}

// ask returns the account that the answer proves. It returns an error, with the account
// where that is known, if it may not sign in.
func (s *Service) ask(ctx context.Context, c *completion) (account Account, err error) {
	switch a := c.answer; {
	case a.Error == "access_denied":
		return account, fault.New(fault.Unauthenticated, "The sign-in with %s was cancelled.", c.Name)
	case a.Error != "":
		return account, fault.Wrap(fmt.Errorf("the provider answers %.100q", a.Error), fault.Unauthenticated,
			"The sign-in was refused by %s. Ask an administrator, who finds the reason in the log.", c.Name)
	case a.Code.IsZero():
		return account, fault.New(fault.Unauthenticated, "No answer to the sign-in came from %s. Start again.", c.Name)
	}
	done, err := s.providerLimiter.Acquire(ctx, attemptOf("", c.addr).address)
	if err != nil {
		return account, err
	}
	defer done()
	ask, cancel := context.WithTimeout(ctx, providerPatience)
	defer cancel()
	account, err = c.Account(ask, c.answer.Code, c.Proofs)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return account, fault.Wrap(err, fault.Unavailable, "No answer comes from %s. Try again later.", c.Name)
	case err != nil:
		return account, err
	}
	if err := c.judge(account); err != nil {
		return account, err
	}
	if s.platform != nil && c.Source == s.platform.source && account.Directory == nil {
		if _, err := s.platform.CurrentGrants(ask, account.Name, nil); err != nil {
			if fault.Is(err, fault.Unauthenticated) {
				return account, fault.Wrap(err, fault.Unauthenticated, "The platform %s has no user %s, whom %s names. Ask an administrator.",
					c.Source, account.Name, c.Name)
			}
			return account, s.platform.unanswered(err)
		}
	}
	return account, nil
}

// errNotAllowed is the cause when an account is in none of the groups that may sign in.
var errNotAllowed = errors.New("the account is in none of the allowed groups")

// judge says why an account may not sign in.
func (w *SignInProvider) judge(account Account) error {
	var wrong fault.Fields
	judgeName(&wrong, account.Name)
	allowed := func(group string) bool { return slices.Contains(w.AllowedGroups, group) }
	switch {
	case account.Name == "":
		return fault.New(fault.Unauthenticated, "Your user name did not come with the answer of %s. Ask an administrator.", w.Name)
	case len(wrong) > 0:
		return fault.Wrap(wrong.Err(), fault.Unauthenticated, "The user name that %s gives cannot be used in Outrigger. "+
			"Ask an administrator; the log says why.", w.Name)
	case len(w.AllowedGroups) > 0 && !slices.ContainsFunc(account.Groups, allowed):
		return fault.Wrap(errNotAllowed, fault.Unauthenticated,
			"Your account at %s is in no group that may use Outrigger. Ask an administrator.", w.Name)
	}
	return nil
}

// admitAccount stores what the provider says of a user who signs in.
func (s *Service) admitAccount(ctx context.Context, w *SignInProvider, account Account) (u User, err error) {
	changed := false
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		changed = false
		if u, err = s.userOfAccount(ctx, tx, w, account); err != nil {
			return err
		}
		if account.Subject != "" { // else it says nothing about groups either
			if err := s.storeClaims(ctx, tx, &u, account.Subject, account.Groups); err != nil {
				return err
			}
		}
		if account.Directory != nil {
			if changed, err = s.storeCandidates(ctx, tx, u.ID, account.Directory.Candidates); err != nil {
				return err
			}
		}
		return s.loadGrants(ctx, tx, &u)
	})
	if err == nil && changed {
		s.platform.forget(u.ID)
	}
	return u, err
}
