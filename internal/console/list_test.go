package console

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sampleList(form *Form) List {
	return NewList("/rules", form, []Filter{{Name: "search", Label: "Name"}, {Name: "state", Label: "State"}}, "level", "global", "empty", "")
}

// What is chosen stands in the list's address, and so does what the address has beside
// it; every page of the list keeps both.
func TestAListKeepsItsFilters(t *testing.T) {
	l := sampleList(NewForm().Set("search", "a&b <é>").Set("other", "1"))
	const query = "?level=global&search=a%26b+%3C%C3%A9%3E"
	if l.Query != query || !l.Filtered() {
		t.Errorf("%q %t", l.Query, l.Filtered())
	}
	l.NextAt("after", "7")
	l.FromFirst()
	want := Pager{First: "/rules" + query, Next: "/rules?after=7&level=global&search=a%26b+%3C%C3%A9%3E"}
	if diff := cmp.Diff(want, l.Pager); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]Hidden{{"level", "global"}}, l.Kept()); diff != "" {
		t.Error(diff)
	}
	if all := sampleList(NewForm()); all.Filtered() || all.Query != "?level=global" {
		t.Errorf("nothing is chosen: %q", all.Query)
	}
}

// A list of one page counts its rows; of others the rows are counted, where that can be.
func TestRowsOfOtherPagesAreCounted(t *testing.T) {
	for _, c := range []struct {
		pager Pager
		known bool
		want  string
	}{{Pager{}, false, "50 rules"}, {Pager{Next: "/rules?after=7"}, true, "1,234 rules"}, {Pager{First: "/rules"}, true, "1,234 rules"}, {Pager{Next: "/rules?after=7"}, false, ""}} {
		l := List{Pager: c.pager}
		if err := l.Count(50, "rule", "rules", func() (int, bool, error) { return 1234, c.known, nil }); err != nil || l.Total != c.want {
			t.Errorf("%+v: %q, want %q, %v", c, l.Total, c.want, err)
		}
	}
}

func TestAListSaysItsTotal(t *testing.T) {
	for n, want := range map[int]string{0: "0 rules", 1: "1 rule", 2: "2 rules", 9_999: "9,999 rules", 10_000: "10,000 and more", 12_000: "10,000 and more"} {
		if got := TotalOf(n, "rule", "rules"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
