package authorizations

import (
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/playground/bitbucketcloud"
)

// The accounts of a user who was deleted are withdrawn, with their tokens, and
// say why; another user may authorise them again.
func TestTheUserIsDeleted(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a, b := n.authorize(1, ana), n.authorize(2, ben)
		n.becomes(1, identity.UserDeleted)
		if n.round(); n.account(b.ID).State != notify.AuthorizationActive {
			t.Errorf("that of another user: %+v", n.account(b.ID))
		}
		now, tokens, err := n.store.AccountTokens(t.Context(), a.ID)
		if err != nil || now.State != notify.AuthorizationWithdrawn || now.Reason != "The user user 1, who authorised it, was deleted." || !tokens.Refresh.IsZero() || !tokens.Access.IsZero() {
			t.Errorf("%+v, %v", now, err)
		}
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) {
			t.Errorf("%v", err)
		}
		if again := n.authorize(2, ana); again.ID != a.ID || again.State != notify.AuthorizationActive || n.works(a.ID) != nil {
			t.Errorf("%+v", again)
		}
	})
}

// Until the next round too, the tokens of a user who was deleted are not used.
func TestTokensOfADeletedUserAreNotUsed(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a := n.authorize(1, ana)
		n.becomes(1, identity.UserDeleted)
		asked := n.Asked("")
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "was deleted") || n.Asked("") != asked {
			t.Errorf("%v", err)
		}
		if n.account(a.ID).State != notify.AuthorizationWithdrawn {
			t.Errorf("%+v", n.account(a.ID))
		}
	})
}

// The accounts of a user who is disabled are neither used nor refreshed, and are
// there when the user is enabled again.
func TestTheUserIsDisabled(t *testing.T) {
	eachWorld(t, bitbucketcloud.Options{}, func(t *testing.T, n *node) {
		a, b := n.authorize(1, ana), n.authorize(2, ben)
		n.becomes(1, identity.UserDisabled)
		if err := n.works(a.ID); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "is disabled") {
			t.Errorf("%v", err)
		}
		n.pass(90 * time.Minute)
		if got := n.round(); got != 1 || n.account(b.ID).Tokens != 2 {
			t.Errorf("%d refreshed", got)
		}
		if now := n.account(a.ID); now.Tokens != 1 || now.State != notify.AuthorizationActive || !now.DueAt.Equal(n.clock().Add(disabledFor)) {
			t.Errorf("%+v", now)
		}
		admin := identity.With(t.Context(), &identity.Principal{UserID: 9, Grants: []identity.Grant{{Permission: identity.Admin}}})
		if list, err := n.api.List(admin, 0, 10); err != nil || len(list) != 2 || list[0].User != identity.UserDisabled || list[1].User != identity.UserKnown {
			t.Errorf("%+v, %v", list, err)
		}
		n.becomes(1, identity.UserKnown)
		n.pass(disabledFor)
		if n.round(); n.account(a.ID).Tokens != 2 || n.works(a.ID) != nil {
			t.Errorf("enabled again: %+v", n.account(a.ID))
		}
	})
}
