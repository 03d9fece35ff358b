package identity

import (
	"maps"
	"testing"

	"outrigger/internal/secret"
)

func TestUserStates(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ids := map[string]int64{}
		for _, name := range []string{"ann", "ben", "cia"} {
			u, err := n.CreateUser(t.Context(), name, secret.New(goodPassword))
			if err != nil {
				t.Fatal(err)
			}
			ids[name] = u.ID
		}
		if err := n.DisableUser(t.Context(), "ben"); err != nil {
			t.Fatal(err)
		}
		if err := n.DeleteUser(t.Context(), "cia"); err != nil {
			t.Fatal(err)
		}
		want := map[int64]UserState{ids["ann"]: UserKnown, ids["ben"]: UserDisabled, ids["cia"]: UserDeleted, 999: UserDeleted}
		if got, err := n.UserStates(t.Context(), ids["ann"], ids["ben"], ids["cia"], 999); err != nil || !maps.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
		if got, err := n.UserStates(t.Context()); err != nil || len(got) != 0 {
			t.Errorf("of none: %v, %v", got, err)
		}
	})
}
