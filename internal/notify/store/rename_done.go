package store

import (
	"context"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// behind are offers of permissions that stayed when rules moved to a key.
type behind []notify.Rename

// leftBehind finds the permissions that stayed when rules came to the old key of a
// rename.
func leftBehind(ctx context.Context, tx *db.Tx, by notify.KeyChange) (left behind, err error) {
	all, err := readRenames(ctx, tx, `state = 'offered' AND connection = $1 AND reason = $2`, by.Connection, string(notify.HasGrants))
	for _, o := range all {
		if foldKey(o.To) == foldKey(by.From) {
			left = append(left, o)
		}
	}
	return left, err
}

// at is since when grants at a key are of others: those from before are of the rules
// that come back to it. Zero: all are.
func (b behind) at(key notify.RepositoryRef) time.Time {
	for _, o := range b {
		if foldKey(o.From) == foldKey(key) {
			return o.OfferedAt
		}
	}
	return time.Time{}
}

// follow has the offers name the key to which the rules moved on, and ends those of
// permissions that the rules came back to.
func (b behind) follow(ctx context.Context, tx *db.Tx, to notify.RepositoryRef) error {
	for _, o := range b {
		from := foldKey(o.From)
		if err := replaceOffer(ctx, tx, o.ID, from); err != nil {
			return err
		}
		if from == foldKey(to) {
			continue
		}
		by := o.KeyChange()
		by.To = to
		if err := insertOffer(ctx, tx, &notify.Hook{ID: o.HookID, Name: o.Hook}, by, o.Reason, o.OfferedAt); err != nil {
			return err
		}
	}
	return nil
}

// endDone ends the offers that a rename leaves nothing to decide of: those of the way
// back, and, where rules moved, those of the same way. A hook ends its own, and where
// both keys are in its scope also those of others.
func endDone(ctx context.Context, tx *db.Tx, hook *notify.Hook, by notify.KeyChange, moved bool) error {
	offers, err := readRenames(ctx, tx, `state = 'offered' AND connection = $1 AND from_fold IN ($2, $3)`, by.Connection, foldKey(by.From),
		foldKey(by.To))
	if err != nil {
		return err
	}
	trusted := hook.Scope.Holds(by.From) && hook.Scope.Holds(by.To)
	for _, o := range offers {
		from, to := foldKey(o.From), foldKey(o.To)
		back := from == foldKey(by.To) && to == foldKey(by.From)
		same := from == foldKey(by.From) && to == foldKey(by.To)
		if back && (trusted || o.HookID == hook.ID) || same && moved {
			if err := replaceOffer(ctx, tx, o.ID, from); err != nil {
				return err
			}
		}
	}
	return nil
}
