package pages

import (
	"testing"

	"outrigger/internal/notify"
)

// A filter of what is ignored excludes; it does not want "not".
func TestReasonsOfWhatIsIgnored(t *testing.T) {
	for _, c := range []struct {
		member, wants string
		want          string
		not           bool
	}{
		{"ignoredUsers", "not ada, bob", "ada, bob", true},
		{"branches", "not a", "not a", false},
	} {
		got := reasonOf(notify.Reason{Member: c.member, Wants: c.wants}, nil, nil)
		if got.Wants != c.want || got.Not != c.not {
			t.Errorf("%s: %+v", c.member, got)
		}
	}
}
