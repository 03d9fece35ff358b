package app

import (
	"context"

	"outrigger/internal/console"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
)

// attention is the overview as an administrator of the system sees it, but for what
// only administrators may read: figures, the alerts channel and tokens of scope
// monitoring have it, and those who read it are not known.
func (a *App) attention(ctx context.Context) ([]console.Notice, error) {
	who := &identity.Principal{Name: "alerts", Source: identity.Local, Scope: identity.All,
		Grants: []identity.Grant{{Permission: identity.SysAdmin}}}
	return a.pages.Attention(notify.WithoutInside(identity.With(ctx, who)), who)
}

// forAdmins returns a card of the overview that is for who has ADMIN; none where it has
// nothing to say.
func forAdmins(card func(context.Context) (console.Card, error)) console.OverviewFunc {
	return func(ctx context.Context, p *identity.Principal) ([]console.Card, error) {
		if !p.May(identity.Admin, identity.Resource{}) {
			return nil, nil
		}
		c, err := card(ctx)
		if err != nil || len(c.Attention)+len(c.Figures) == 0 {
			return nil, err
		}
		return []console.Card{c}, nil
	}
}

// readAttention is what who asks over REST is answered. A token of scope monitoring
// gets all, as from /metrics: its owner may have no permission at all, and an empty
// list would say that all is well.
func (a *App) readAttention(ctx context.Context) ([]console.Notice, error) {
	who := identity.From(ctx)
	if who.Scope == identity.Monitoring {
		return a.attention(ctx)
	}
	return a.pages.Attention(ctx, who)
}
