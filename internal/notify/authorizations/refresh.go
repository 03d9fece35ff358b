package authorizations

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/work"
)

// A refresh goes like this. The node takes the lease of the account, notes in
// the database that it asks, asks, and keeps the answer. Platforms may take a
// refresh token once only, so the answer must not be lost:
//
//   - It is not cut off, by a stop of the program either.
//   - What the database does not take stays in memory and is kept as soon as it
//     does, also if the lease has lapsed and another node was refused meanwhile;
//     the count of the pair says which tokens it replaces.
//   - A node that dies in between leaves its note. The next one asks with the old
//     refresh token all the same: most platforms take it again. Where this one
//     does not, the account is withdrawn, which says so, and its user authorises it
//     again; the messages of its rules go on.
//   - An answer that is lost on its way is noted alike.

// errStopping says that no refresh begins any more.
var errStopping = fault.New(fault.Unavailable, "The server is stopping; try again in a moment.")

// refresh returns the tokens of an account that came after the pair of count stale.
// Those who ask on this node at the same time share one refresh. Where another
// node is at it, wait says whether to wait for what it gets; else nothing is done
// and the tokens are zero.
func (s *Service) refresh(ctx context.Context, id, stale int64, wait bool) (notify.AccountTokens, error) {
	for {
		asked := s.shared.DoChan(strconv.FormatInt(id, 10), func() (any, error) {
			if !s.begin() {
				return notify.AccountTokens{}, errStopping
			}
			defer s.running.Done()
			return s.refreshOnce(context.WithoutCancel(ctx), id, stale) // though the caller leaves
		})
		select {
		case answer := <-asked:
			t, _ := answer.Val.(notify.AccountTokens)
			if answer.Err != nil || t.Count > stale || !wait {
				return t, answer.Err
			}
		case <-ctx.Done():
			return notify.AccountTokens{}, ctx.Err()
		}
		if err := work.Sleep(ctx, pollEvery); err != nil { // another node has the lease
			return notify.AccountTokens{}, fault.Wrap(err, fault.Unavailable, "Another node is asking the platform for a new token; "+
				"try again in a moment.")
		}
	}
}

func (s *Service) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.running.Add(1)
	}
	return !s.ended
}

// refreshOnce is refresh on this node alone. The tokens are zero where another
// node is at it.
func (s *Service) refreshOnce(ctx context.Context, id, stale int64) (none notify.AccountTokens, err error) {
	lease, err := s.Leases.Acquire(ctx, "authorization/"+strconv.FormatInt(id, 10))
	if err != nil || lease == nil {
		return none, ours(err)
	}
	defer work.Release(ctx, s.Leases, lease, s.Log, "the lease of an account")
	a, t, err := s.read(ctx, id)
	if err != nil || t.Count > stale {
		return t, err
	}
	c, why := s.askable(&a, &t)
	if why != "" {
		return none, s.withdraw(ctx, &a, why)
	}
	if !lease.Good(leaseTime) {
		return none, nil
	}
	if ok, err := s.Store.BeginRefresh(ctx, id, t.Count, s.Clock()); err != nil || !ok {
		return none, ours(err)
	}
	asking, cancel := context.WithTimeout(ctx, refreshTime)
	defer cancel()
	fresh, err := s.Platform.Refresh(asking, c, t.Refresh)
	if err != nil {
		return none, s.refused(ctx, c, &a, err)
	}
	s.metrics.count(refreshed)
	s.answered(c)
	fresh.Count = t.Count
	s.mu.Lock()
	s.unkept[id] = unkept{a, fresh}
	s.mu.Unlock()
	if err := s.keep(ctx, id); err != nil {
		s.Log.Warn("new tokens of an account could not be kept yet; will try again", "authorisation", id, "in", every, "error", err)
		fresh.Count++
		return fresh, nil
	}
	// Meanwhile the account may have been revoked, or its user deleted, on any node.
	_, now, err := s.read(ctx, id)
	return now, err
}

// askable returns the connection of an account, or says why its tokens are of no
// more use.
func (s *Service) askable(a *notify.Authorization, t *notify.AccountTokens) (c *notify.Connection, why string) {
	c = s.Store.Platforms().Connections.Find(a.Connection)
	switch {
	case c == nil:
		return nil, "The connection no longer exists."
	case c.BaseURL != a.BaseURL:
		return c, "The connection's base URL has changed since the account was authorised."
	case t.Refresh.IsZero():
		return c, "Its tokens cannot be read."
	}
	return c, ""
}

// refused says what comes of a refresh that gave no tokens.
func (s *Service) refused(ctx context.Context, c *notify.Connection, a *notify.Authorization, err error) error {
	words := fault.As(err).Message
	if client.Withdrawn(err) {
		if !a.AskedAt.IsZero() {
			words += " The answer to an earlier refresh was lost, perhaps with new tokens in it."
		}
		s.metrics.count(withdrawn)
		return s.withdraw(ctx, a, words)
	}
	s.metrics.count(unanswered)
	now := s.Clock()
	if lost(err) && a.AskedAt.IsZero() {
		a.AskedAt = now
	}
	pause := max(failedFor, fault.As(err).RetryAfter)
	if s.away(c, now.Add(min(pause, heldFor))) {
		s.Log.Warn("the platform does not refresh tokens; will try again", "connection", c.Name, "in", pause, "error", err)
	}
	if _, kept := s.Store.PostponeRefresh(ctx, *a, now.Add(pause), words); kept != nil {
		return ours(kept)
	}
	return err
}

// lost reports whether the platform may have given new tokens in an answer that did
// not arrive. It has not where it was not reached, or answers with a refusal that
// is not that of something in between.
func lost(err error) bool {
	var dial *net.OpError
	switch status := restclient.StatusOf(err); {
	case errors.As(err, &dial) && dial.Op == "dial":
		return false
	case status == 0:
		return true
	default:
		return status == http.StatusBadGateway || status == http.StatusGatewayTimeout
	}
}

// withdraw notes that the platform takes the tokens of an account no more, and
// gives the error that says so.
func (s *Service) withdraw(ctx context.Context, a *notify.Authorization, words string) error {
	ok, err := s.Store.WithdrawAuthorization(ctx, a.ID, a.Tokens, words, s.Clock())
	if err != nil {
		return ours(err)
	}
	if ok {
		s.Log.Warn("an account has to be authorised again", "connection", a.Connection, "account", a.AccountName, "reason", words)
	}
	return unusable(a, words)
}

// unusable says that an account is authorised no more.
func unusable(a *notify.Authorization, words string) error {
	if words != "" {
		words = " " + words
	}
	return fault.New(fault.Conflict, "The account %s is no longer authorised.%s Authorise it again under "+notify.AccountsPlace+
		".", a.AccountName, words)
}

// away notes that a platform does not answer; true where it did before.
func (s *Service) away(c *notify.Connection, until time.Time) (news bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, before := s.failed[c.Name]
	s.failed[c.Name] = until
	return !before
}

func (s *Service) answered(c *notify.Connection) {
	s.mu.Lock()
	_, before := s.failed[c.Name]
	delete(s.failed, c.Name)
	s.mu.Unlock()
	if before {
		s.Log.Info("the platform refreshes tokens again", "connection", c.Name)
	}
}

func (s *Service) failedUntil(connection string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[connection]
}
