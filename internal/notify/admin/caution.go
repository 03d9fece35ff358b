package admin

import (
	"context"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
)

// cautionsAMinute is how many names a user without ADMIN can have looked up in
// a minute by saving rules and reports, on each node.
const cautionsAMinute = 10

// discreetCaution is the caution for users who may not see where a name leads.
const discreetCaution = "The host resolves to an address that is not allowed. An administrator can see which."

// Cautions wraps ask, which tells where the name of a host leads, for the CautionURL of
// Rules and Reports. Only administrators may read that. Others can have few names looked
// up in a minute; beyond that there is no caution.
func Cautions(ask func(ctx context.Context, url string) string) func(ctx context.Context, url string) string {
	var users limit.PerMinute[string]
	return func(ctx context.Context, url string) string {
		if notify.ReadsInside(ctx) {
			return ask(ctx, url)
		}
		if users.Take(identity.From(ctx).Ref(), cautionsAMinute, time.Now()) > 0 || ask(ctx, url) == "" {
			return ""
		}
		return discreetCaution
	}
}
