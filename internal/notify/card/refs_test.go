package card

import (
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/notify"
)

func TestManyRefs(t *testing.T) {
	e := &notify.Event{
		Types: []notify.EventType{notify.BranchDeleted}, Actor: notify.User{DisplayName: "Ana"},
		Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "canoe", URL: "https://code.example.com/canoe"},
		URL: "https://code.example.com/canoe", Refs: &notify.Refs{Count: 4996},
	}
	for i := range notify.MaxRefs {
		e.Refs.Names = append(e.Refs.Names, fmt.Sprintf("feature/%d", i))
	}
	c := New(e)
	if c.Title != "Ana deleted 4,996 branches in ATL/canoe" || c.Branch != "" {
		t.Errorf("%q, branch %q", c.Title, c.Branch)
	}
	if len(c.Facts) != 1 || c.Facts[0].Name != "Branches" || !strings.HasPrefix(c.Facts[0].Value, "feature/0, feature/1, ") ||
		!strings.HasSuffix(c.Facts[0].Value, ", feature/19 and 4,976 more") {
		t.Errorf("facts %+v", c.Facts)
	}
	if len(c.Links) != 1 || c.Links[0].Title != "Open repository" {
		t.Errorf("links %+v", c.Links)
	}
	e.Types, e.Refs = []notify.EventType{notify.TagCreated}, &notify.Refs{Count: 2, Names: []string{"v1", "v2"}}
	if c := New(e); c.Title != "Ana created 2 tags in ATL/canoe" || c.Facts[0] != (notify.Fact{Name: "Tags", Value: "v1, v2"}) {
		t.Errorf("%q %+v", c.Title, c.Facts)
	}
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567"} {
		if got := count(n); got != want {
			t.Errorf("%d is written %q", n, got)
		}
	}
}
