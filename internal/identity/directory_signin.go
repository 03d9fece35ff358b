package identity

import (
	"context"
	"errors"
	"slices"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// proof is what a remembered password was compared with.
func (u User) proof() string {
	if u.ID == 0 || u.Source == Local {
		return u.password
	}
	return "platform " + idText(u.ID) // no PHC form begins so
}

// checkAtPlatform asks the platform whether the password is right, and counts
// the result.
func (s *Service) checkAtPlatform(ctx context.Context, d attempt, user, password string) (User, error) {
	done, err := s.platform.limiter.Acquire(ctx, d.address)
	if err != nil {
		return User{}, err
	}
	defer done()
	// Meanwhile others may have failed or succeeded, or made a local user.
	u, known, err := s.judge(ctx, d, d.account, password)
	switch {
	case err != nil || known:
		return u, err
	case !s.platform.knows(u, d.account, password):
		return User{}, ErrUnauthenticated()
	}
	// A client that leaves before the answer has guessed all the same.
	ask, cancelAsk := context.WithTimeout(context.WithoutCancel(ctx), directoryPatience)
	defer cancelAsk()
	found, err := s.platform.SignIn(ask, user, password)
	switch {
	case fault.Is(err, fault.Unauthenticated):
		if why := errors.Unwrap(err); why != nil {
			s.log.WarnContext(ctx, "a sign-in with the platform's password was refused", "user", d.account, "address", d.address, "error", why)
		}
		return User{}, s.wrongPassword(ctx, d)
	case err != nil:
		s.log.WarnContext(ctx, "the platform could not be asked about a sign-in", "user", d.account, "address", d.address, "error", err)
		return User{}, s.platform.unanswered(err)
	}
	s.warnOfMore(ctx, found)
	if u, err = s.admit(ctx, found); err != nil {
		return User{}, err
	}
	if u.Disabled() {
		return User{}, s.wrongPassword(ctx, d)
	}
	if !u.Factors.On() { // else the second factor will count
		if err := s.countSuccess(ctx, d, u); err != nil {
			return User{}, err
		}
	}
	s.known.add(d.account, password, u.proof())
	return u, nil
}

func (s *Service) warnOfMore(ctx context.Context, found DirectoryUser) {
	if found.More {
		s.log.WarnContext(ctx, "a user administers more on the platform than is taken; give ADMIN or a grant here instead",
			"user", found.Name, "taken", len(found.Candidates))
	}
}

// admit stores what the platform said of a user who signed in.
func (s *Service) admit(ctx context.Context, found DirectoryUser) (u User, err error) {
	changed := false
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		changed = false
		if u, err = s.admitUser(ctx, tx, s.platform.source, found.Name, ""); err != nil {
			return err
		}
		if changed, err = s.storeCandidates(ctx, tx, u.ID, found.Candidates); err != nil {
			return err
		}
		return s.loadGrants(ctx, tx, &u)
	})
	if err == nil && changed {
		s.platform.forget(u.ID)
	}
	return u, err
}

// storeCandidates stores where the platform says that a user administers, and
// reports whether that is something new.
func (s *Service) storeCandidates(ctx context.Context, tx *db.Tx, user int64, list []Grant) (changed bool, err error) {
	held, err := candidatesOf(ctx, tx, user, s.platform.source)
	if err != nil || sameGrants(held, list) {
		return false, err
	}
	return true, replaceCandidates(ctx, tx, user, list)
}

// admitUser returns the stored user of a source; at the first sign-in it makes
// one, of the provider's account with that subject. One of the same name in another
// case was another user, whose tokens and grants are not handed on; one who is
// disabled stays so in any case.
func (s *Service) admitUser(ctx context.Context, tx *db.Tx, source, name, subject string) (User, error) {
	ref := refOf(source, name)
	u, err := userByName(ctx, tx, ref)
	switch {
	case err == nil && (u.Name == name || u.Disabled()):
		return u, nil
	case err == nil:
		if err := tx.Do(ctx, "deleting a user", `DELETE FROM identity_users WHERE id = $1`, u.ID); err != nil {
			return u, err
		}
		if err := recordAdmitted(ctx, tx, "delete", source, u.Name); err != nil {
			return u, err
		}
	case !fault.Is(err, fault.NotFound):
		return u, err
	}
	u = User{Name: name, Source: source, CreatedAt: s.now(), subject: subject}
	made, err := s.insertUser(ctx, tx, &u)
	switch {
	case err != nil:
		return u, err
	case !made: // another node was quicker
		return userByName(ctx, tx, ref)
	}
	return u, recordAdmitted(ctx, tx, "create", source, name)
}

// recordAdmitted notes in the audit trail what a sign-in made or removed; who
// signs in is not known in ctx yet.
func recordAdmitted(ctx context.Context, tx *db.Tx, action, source, name string) error {
	e := WithActor(ctx, audit.Entry{Area: "identity", Action: action, Object: "user", ObjectID: refOf(source, name)})
	e.Who, e.Source = name, source
	is := map[string]string{"name": name, "source": source}
	if action == "create" {
		e.After = is
	} else {
		e.Before = is
	}
	return audit.Record(ctx, tx, e)
}

// candidates lists where the platform said, at the user's last sign-in, that they
// administer.
func (s *Service) candidates(ctx context.Context, user int64) ([]Grant, error) {
	return db.Read(ctx, s.db, func(tx *db.Tx) ([]Grant, error) { return candidatesOf(ctx, tx, user, s.platform.source) })
}

func candidatesOf(ctx context.Context, tx *db.Tx, user int64, connection string) ([]Grant, error) {
	return db.List(ctx, tx, "reading candidates", func(row db.Row) (Grant, error) {
		g := Grant{Resource: Resource{Connection: connection}}
		err := row.Scan(&g.Permission, &g.Resource.Project, &g.Resource.Repository)
		return g, err
	}, `SELECT permission, project, repository FROM identity_candidates WHERE user_id = $1 ORDER BY permission, project, repository`, user)
}

func replaceCandidates(ctx context.Context, tx *db.Tx, user int64, list []Grant) error {
	if err := tx.Do(ctx, "forgetting candidates", `DELETE FROM identity_candidates WHERE user_id = $1`, user); err != nil {
		return err
	}
	for _, g := range list {
		if err := tx.Do(ctx, "storing a candidate",
			`INSERT INTO identity_candidates (user_id, permission, project, repository) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, user, string(g.Permission), g.Resource.Project, g.Resource.Repository); err != nil {
			return err
		}
	}
	return nil
}

// sameGrants reports whether both lists have the same, in any order.
func sameGrants(a, b []Grant) bool {
	has := func(list []Grant, g Grant) bool {
		return slices.ContainsFunc(list, func(o Grant) bool { return o.Permission == g.Permission && o.Resource == g.Resource })
	}
	return !slices.ContainsFunc(a, func(g Grant) bool { return !has(b, g) }) &&
		!slices.ContainsFunc(b, func(g Grant) bool { return !has(a, g) })
}
