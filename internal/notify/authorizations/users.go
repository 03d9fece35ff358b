package authorizations

import (
	"context"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// disabledFor is how long a refresh is put off for an account whose user is
// disabled: so late the tokens of one who is enabled again are refreshed, unless
// they are needed before.
const disabledFor = time.Hour

// withdrawDeleted withdraws the accounts of users who were deleted: tokens belong
// to the person who gave them. It gives the users who are disabled.
func (s *Service) withdrawDeleted(ctx context.Context) (disabled map[int64]bool, err error) {
	users, err := s.Store.AuthorizationUsers(ctx)
	if err != nil || len(users) == 0 {
		return nil, err
	}
	states, err := s.UserStates(ctx, users...)
	if err != nil {
		return nil, err
	}
	disabled = map[int64]bool{}
	for user, state := range states {
		disabled[user] = state == identity.UserDisabled
		if state != identity.UserDeleted {
			continue
		}
		accounts, err := s.Store.ListAuthorizations(ctx, user, 0, atOnce)
		if err != nil {
			return nil, err
		}
		for _, a := range accounts {
			if a.State != notify.AuthorizationActive {
				continue
			}
			if err := s.withdraw(ctx, &a, deleted(&a)); isOurs(err) {
				return nil, err
			}
		}
	}
	return disabled, nil
}

func deleted(a *notify.Authorization) string {
	return "The user " + a.AuthorizedBy + ", who authorised it, was deleted."
}

// checkUser reports whether the user of an account may still have it used:
// fault.Conflict, or nil.
func (s *Service) checkUser(ctx context.Context, a *notify.Authorization) error {
	states, err := s.UserStates(ctx, a.UserID)
	if err != nil {
		return ours(err)
	}
	switch states[a.UserID] {
	case identity.UserDeleted:
		return s.withdraw(ctx, a, deleted(a))
	case identity.UserDisabled:
		return fault.New(fault.Conflict, "The account %s is not used while the user %s, who authorised it, is disabled. "+
			"Authorise an account of your own under "+notify.AccountsPlace+".", a.AccountName, a.AuthorizedBy)
	}
	return nil
}
