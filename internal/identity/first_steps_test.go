package identity

import "testing"

// A user hides the first steps from nobody else, and can have them back.
func TestFirstStepsAreHiddenByUser(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		ann, ben, cia := n.mustCreate(t, "ann").ID, n.mustCreate(t, "ben").ID, n.mustCreate(t, "cia").ID
		for _, c := range []struct {
			by   int64
			hide bool
			want map[int64]bool
		}{
			{ann, true, map[int64]bool{ann: true, ben: false, cia: false}},
			{cia, true, map[int64]bool{ann: true, ben: false, cia: true}},
			{ann, false, map[int64]bool{ann: false, ben: false, cia: true}},
			{ben, false, map[int64]bool{ann: false, ben: false, cia: true}},
		} {
			if err := n.HideFirstSteps(With(t.Context(), &Principal{UserID: c.by}), c.hide); err != nil {
				t.Fatal(err)
			}
			for u, want := range c.want {
				if got, err := n.FirstStepsHidden(With(t.Context(), &Principal{UserID: u})); err != nil || got != want {
					t.Errorf("user %d: hidden %t, %v", u, got, err)
				}
			}
		}
	})
}
