package identity

import (
	"context"
	"database/sql"
	"errors"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// userOfAccount returns the user of a provider's account, and makes one at its
// first sign-in. A user belongs to the account that signed in first: a name can
// change hands at the provider, and what was granted here does not go with it.
func (s *Service) userOfAccount(ctx context.Context, tx *db.Tx, w *SignInProvider, account Account) (User, error) {
	if w.Source == SingleSignOn {
		u, err := scanUser(tx.QueryRow(ctx, selectUser+` WHERE source = $1 AND subject = $2`, w.Source, account.Subject))
		switch {
		case err == nil && u.Name == account.Name:
			return u, nil
		case err == nil:
			return s.rename(ctx, tx, w, u, account.Name)
		case !errors.Is(err, sql.ErrNoRows):
			return u, err
		}
		if u, err = userByName(ctx, tx, refOf(w.Source, account.Name)); err == nil {
			return u, errOtherAccount(w, u.Ref())
		}
	}
	u, err := s.admitUser(ctx, tx, w.Source, account.Name, account.Subject)
	if err == nil && account.Subject != "" && u.subject != "" && u.subject != account.Subject {
		err = errOtherAccount(w, u.Ref())
	}
	return u, err
}

func errOtherAccount(w *SignInProvider, ref string) error {
	return fault.New(fault.Unauthenticated, "The user %s belongs to another account of %s. If that account is gone, ask an "+
		"administrator to delete the user here.", ref, w.Name)
}

// rename follows an account whose name was changed at the provider.
func (s *Service) rename(ctx context.Context, tx *db.Tx, w *SignInProvider, u User, name string) (User, error) {
	other, err := userByName(ctx, tx, refOf(w.Source, name))
	switch {
	case err == nil && other.ID != u.ID:
		return u, errOtherAccount(w, other.Ref())
	case err != nil && !fault.Is(err, fault.NotFound):
		return u, err
	}
	if err := tx.Do(ctx, "renaming a user",
		`UPDATE identity_users SET name = $1, name_key = $2 WHERE id = $3`, name, nameKey(name), u.ID); err != nil {
		return u, err
	}
	e := WithActor(ctx, audit.Entry{
		Area: "identity", Action: "rename", Object: "user", ObjectID: refOf(w.Source, name),
		Before: map[string]string{"name": u.Name}, After: map[string]string{"name": name},
	})
	u.Name = name
	e.Who, e.Source = u.Name, u.Source
	s.changed(tx)
	return u, audit.Record(ctx, tx, e)
}
