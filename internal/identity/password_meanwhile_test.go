package identity

import (
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// A password that was changed opens no session any more, also on a node that knew it
// a moment ago: the session would outlive the change by days.
func TestAnOldPasswordOpensNoSession(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ctx := t.Context()
		other := newNode(t, n.db, n.clock)
		for _, name := range []string{"ann", "bob"} {
			n.mustCreate(t, name)
		}
		n.mustUseApp(t, "bob")
		for _, name := range []string{"ann", "bob"} {
			if _, err := other.Basic(ctx, name, goodPassword, here); err != nil && !fault.Is(err, fault.Forbidden) {
				t.Fatal(err)
			}
			if err := n.SetPassword(ctx, name, secret.New("another horse battery")); err != nil {
				t.Fatal(err)
			}
			session, _, err := other.SignIn(ctx, name, goodPassword, here)
			if _, asked := err.(*FactorNeeded); asked || !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s signs in with the old password: %q, %v", name, session, err)
			}
		}
		if sessions, err := n.Sessions(ctx, "ann", 0, 10); err != nil || len(sessions) != 0 {
			t.Errorf("sessions: %+v, %v", sessions, err)
		}
		n.move(freshness)
		if _, _, err := other.SignIn(ctx, "ann", "another horse battery", here); err != nil {
			t.Errorf("the new password: %v", err)
		}
	})
}
