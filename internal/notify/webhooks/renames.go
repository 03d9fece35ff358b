package webhooks

import (
	"context"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
)

// offersAtOnce is more renames than wait for a decision at a time.
const offersAtOnce = 1000

// confirmRenames confirms the offered renames of projects that the platform
// itself shows: the project that it listed under the old key is now under the
// new one, and it lists none under the old. A webhook's word has no part in that
// but to offer the rename, so that grants move too.
func (w *Watch) confirmRenames(ctx context.Context, c *notify.Connection, listed []notify.ListedProject) error {
	before, err := w.Store.ProjectIDs(ctx, c.Name)
	if err != nil {
		return err
	}
	now := make(map[string]int64, len(listed))
	for _, p := range listed {
		now[notify.Fold(p.Key)] = p.ID
	}
	offers, err := w.Store.OfferedRenames(ctx, 0, offersAtOnce)
	if err != nil {
		return err
	}
	for _, o := range offers {
		if o.Connection != c.Name || o.From.RepositoryKey != "" || o.To.RepositoryKey != "" {
			continue
		}
		from, to := notify.Fold(o.From.ProjectKey), notify.Fold(o.To.ProjectKey)
		_, stays := now[from]
		if id := before[from]; id == 0 || stays || now[to] != id {
			continue
		}
		err := w.Store.ConfirmRename(ctx, admin.ManagedBy(ctx, c.Name), o.ID)
		if fault.Is(err, fault.Conflict) || fault.Is(err, fault.NotFound) { // the new key is in use, or it was decided already
			continue
		}
		if err != nil {
			return err
		}
		w.Log.Info("the platform confirms that a project has another key", "connection", c.Name, "from", o.From.ProjectKey, "to", o.To.ProjectKey)
	}
	return nil
}
