package membership

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Who tries rules with ever other groups cannot use up what the platform grants
// the connection's account, which signs in users too. Events are not held up.
func TestAPersonAsksOnlySoMuch(t *testing.T) {
	eachWorld(t, func(t *testing.T, w *world) {
		ada := identity.With(t.Context(), &identity.Principal{UserID: 7, Name: "ada"})
		if member, err := w.node.MemberOf(ada, "main", "ann", []string{"devs"}); !member || err != nil {
			t.Fatal(member, err)
		}
		for i := range asksByPerson - 1 {
			if _, err := w.node.MemberOf(ada, "main", "ann", []string{fmt.Sprint("g", i)}); err != nil {
				t.Fatal(i, err)
			}
		}
		asked := w.Asked("/users")
		if _, err := w.node.MemberOf(ada, "main", "ann", []string{"one more"}); !fault.Is(err, fault.RateLimited) || w.Asked("/users") != asked {
			t.Errorf("one more: %v, asked %d times", err, w.Asked("/users")-asked)
		}
		if member, err := w.node.MemberOf(ada, "main", "ann", []string{"devs"}); !member || err != nil {
			t.Errorf("what is known: %v, %v", member, err)
		}
		w.want(false, "ann", "one more") // of an event
		bob := identity.With(t.Context(), &identity.Principal{UserID: 8, Name: "bob"})
		if _, err := w.node.MemberOf(bob, "main", "ann", []string{"another"}); err != nil {
			t.Errorf("another person: %v", err)
		}
		w.now = w.now.Add(time.Minute)
		if _, err := w.node.MemberOf(ada, "main", "ann", []string{"later"}); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}
