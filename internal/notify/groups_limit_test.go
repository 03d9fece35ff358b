package notify

import (
	"fmt"
	"testing"

	"outrigger/internal/fault"
)

// The platform is asked about each group for every user who causes an event.
func TestARuleNamesOnlySoManyGroups(t *testing.T) {
	for n, want := range map[int]string{maxGroups: "", maxGroups + 1: "groups ignoredGroups"} {
		r := Rule{Name: "x", Connection: "dc", Format: Auto, Filter: Filter{EventTypes: []EventType{BranchUpdated}}}
		for i := range n {
			r.Groups = append(r.Groups, fmt.Sprint("g", i))
			r.IgnoredGroups = append(r.IgnoredGroups, fmt.Sprint("h", i))
		}
		got := ""
		if err := r.Validate(); err != nil {
			for i, f := range fault.As(err).Fields {
				if i > 0 {
					got += " "
				}
				got += f.Name
			}
		}
		if got != want {
			t.Errorf("%d groups: %q, want %q", n, got, want)
		}
	}
}
