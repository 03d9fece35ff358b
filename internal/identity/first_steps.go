package identity

import (
	"context"

	"outrigger/internal/db"
)

// FirstStepsHidden reports whether the user of ctx has hidden the first steps on the overview.
func (s *Service) FirstStepsHidden(ctx context.Context) (hidden bool, err error) {
	_, err = s.db.Find(ctx, "reading whether the first steps are hidden", []any{&hidden},
		`SELECT first_steps_hidden FROM identity_users WHERE id = $1`, From(ctx).UserID)
	return hidden, err
}

// HideFirstSteps hides them from the user of ctx, in every browser, or shows them again.
func (s *Service) HideFirstSteps(ctx context.Context, hidden bool) error {
	return s.db.Do(ctx, "storing whether the first steps are hidden", `UPDATE identity_users SET first_steps_hidden = $1 WHERE id = $2`,
		db.Bit(hidden), From(ctx).UserID)
}
