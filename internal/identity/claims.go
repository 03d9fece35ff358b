package identity

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"outrigger/internal/db"
)

const (
	// claimsHold is how long the groups count that a provider named at a sign-in:
	// as long as the session of that sign-in may last. Tokens go by them too, so who
	// does not sign in for so long loses what came by groups there as well.
	claimsHold = sessionLife
	// maxGroups is how many groups of a user are kept: more than providers put into
	// a token, and few enough to write at a sign-in.
	maxGroups = 500
)

// groupRules are the settings about groups of single sign-on.
type groupRules struct {
	source string   // of the users whose groups are known
	admins []string // the groups whose members have ADMIN
}

// UseGroups has groups count that the provider of users of that source names;
// members of admins have ADMIN. Without it groups give nothing. Call it before
// any user signs in.
func (s *Service) UseGroups(source string, admins []string) {
	s.groups = &groupRules{source, admins}
}

// HasGroups reports whether a provider names groups.
func (s *Service) HasGroups() bool { return s.groups != nil }

// storeClaims stores what a provider says of a user: the account, and the groups.
func (s *Service) storeClaims(ctx context.Context, tx *db.Tx, u *User, subject string, claimed []string) error {
	now := s.now()
	if err := tx.Do(ctx, "forgetting groups that no longer count",
		`DELETE FROM identity_members WHERE user_id IN (SELECT id FROM identity_users WHERE claimed_until <= $1)`,
		db.Micros(now)); err != nil {
		return err
	}
	u.subject, u.ClaimedUntil = subject, now.Add(claimsHold)
	if err := tx.Do(ctx, "storing what a provider says of a user", `UPDATE identity_users SET subject = $1, claimed_until = $2 WHERE id = $3`,
		subject, db.Micros(u.ClaimedUntil), u.ID); err != nil {
		return err
	}
	s.changed(tx)
	kept, err := s.keptGroups(ctx, tx, u, claimed)
	if err != nil {
		return err
	}
	return storeGroups(ctx, tx, u.ID, kept, now)
}

// endGroups ends what groups give to the user of an account that may no longer sign
// in. The next sign-in of any user removes the groups themselves.
func (s *Service) endGroups(ctx context.Context, w *SignInProvider, account Account) error {
	return s.db.Write(ctx, func(tx *db.Tx) error {
		if err := tx.Do(ctx, "ending what groups give",
			`UPDATE identity_users SET claimed_until = $1 WHERE source = $2 AND subject = $3 AND subject <> ''
			AND claimed_until > $1`,
			db.Micros(s.now()), w.Source, account.Subject); err != nil {
			return err
		}
		s.changed(tx)
		return nil
	})
}

// keptGroups chooses the groups that are kept. All of them are, so that a grant
// holds at once for users who have signed in already; of too many, those first that
// give something now.
func (s *Service) keptGroups(ctx context.Context, tx *db.Tx, u *User, claimed []string) ([]string, error) {
	if s.groups == nil {
		return nil, nil
	}
	var all []string
	for _, name := range claimed {
		if judgeGroup(name) == "" {
			all = append(all, name)
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	if len(all) <= maxGroups {
		return all, nil
	}
	grants, err := grantsWhere(ctx, tx, `user_id IS NULL`)
	if err != nil {
		return nil, err
	}
	rank := func(name string) int {
		if len(grants[holder{group: name}]) > 0 || slices.Contains(s.groups.admins, name) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(rank(a), rank(b)) })
	s.log.WarnContext(ctx, "a user is in more groups than are kept; those with permissions are kept first", "user", u.Ref(),
		"groups", len(all), "kept", maxGroups)
	return all[:maxGroups], nil
}

// storeGroups stores the groups that a user is in; those that are known already
// keep the time since when.
func storeGroups(ctx context.Context, tx *db.Tx, user int64, groups []string, now time.Time) error {
	known, err := groupsOf(ctx, tx, user)
	if err != nil {
		return err
	}
	var added []string
	for _, name := range groups {
		if !known[name] {
			added = append(added, name)
		}
		delete(known, name)
	}
	var gone [][]any
	for name := range maps.Keys(known) {
		gone = append(gone, []any{user, name})
	}
	if err := tx.Each(ctx, "forgetting groups of a user",
		`DELETE FROM identity_members WHERE user_id = $1 AND name = $2`, gone, nil); err != nil {
		return err
	}
	return db.Insert[string]{
		Into: "identity_members (user_id, name, since)",
		Columns: []db.Column[string]{
			db.Number(func(string) int64 { return user }),
			db.Text(func(name string) string { return name }),
			db.Number(func(string) int64 { return db.Micros(now) }),
		},
	}.Rows(ctx, tx, "storing groups of a user", added)
}

func groupsOf(ctx context.Context, tx *db.Tx, user int64) (map[string]bool, error) {
	names := map[string]bool{}
	return names, tx.EachRow(ctx, "reading groups of a user", func(row db.Row) error {
		var name string
		err := row.Scan(&name)
		names[name] = true
		return err
	}, `SELECT name FROM identity_members WHERE user_id = $1`, user)
}
