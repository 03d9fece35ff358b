package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// addAccounts sets the accounts that rules of the cloud edition belong to.
func addAccounts(ctx context.Context, tx *db.Tx, rules []notify.RuleInfo) error {
	accounts := make(map[int64]notify.RuleAccount)
	var ids []int64
	for i := range rules {
		id := rules[i].AuthorizationID
		if _, ok := accounts[id]; !ok && id != 0 {
			accounts[id] = notify.RuleAccount{}
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	err := tx.EachRow(ctx, "reading the accounts of rules", func(row db.Row) error {
		var id int64
		var a notify.RuleAccount
		err := row.Scan(&id, &a.Name, &a.State)
		accounts[id] = a
		return err
	}, `SELECT id, account_name, state FROM notify_authorizations WHERE id IN (`+list(ids)+`)`)
	for i := range rules {
		rules[i].Account = accounts[rules[i].AuthorizationID]
	}
	return err
}

// checkAccount refuses to save a rule with an account that was revoked since it
// was asked for.
func checkAccount(ctx context.Context, tx *db.Tx, r *notify.Rule) error {
	if r.AuthorizationID == 0 {
		return nil
	}
	var state notify.AuthorizationState
	_, err := tx.Find(ctx, "reading the account of a rule", []any{&state}, `SELECT state FROM notify_authorizations WHERE id = $1`,
		r.AuthorizationID)
	if err == nil && state == notify.AuthorizationRevoked {
		err = fault.Wrap(notify.ErrNoAccount, fault.Forbidden, "Your account was revoked in the meantime. Authorise it again, then "+
			"save the rule.")
	}
	return err
}
