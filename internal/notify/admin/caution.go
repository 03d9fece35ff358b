package admin

import (
	"context"
	"time"

	"outrigger/internal/identity"
	"outrigger/internal/limit"
	"outrigger/internal/notify"
)

// cautionsAMinute is how many names a user who is no administrator has looked up in
// a minute by saving rules and reports, on each node.
const cautionsAMinute = 10

// discreetCaution is the caution for who may not read where a name leads.
const discreetCaution = "The host resolves to an address that is not allowed. An administrator can see which."

// Cautions makes the CautionURL of Rules and Reports of one that says where the name
// of a host leads, which administrators alone may read. Others have few names looked
// up in a minute; beyond that nothing is said.
func Cautions(ask func(ctx context.Context, url string) string) func(ctx context.Context, url string) string {
	var users limit.PerMinute[account]
	return func(ctx context.Context, url string) string {
		if notify.ReadsInside(ctx) {
			return ask(ctx, url)
		}
		if users.Take(accountOf(identity.From(ctx)), cautionsAMinute, time.Now()) > 0 || ask(ctx, url) == "" {
			return ""
		}
		return discreetCaution
	}
}
