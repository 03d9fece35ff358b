package pages

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/fault"
)

// A delivery that is ticked twice is one; more than a page of the list has, or what is no
// id, is refused as a whole.
func TestTickedDeliveries(t *testing.T) {
	var page []string
	for id := range pageSize {
		page = append(page, strconv.Itoa(id+1))
	}
	for _, c := range []struct {
		name  string
		ids   []string
		want  int
		wrong string
	}{
		{"none", nil, 0, ""},
		{"twice", []string{"7", "8", "7", "7"}, 2, ""},
		{"a page, twice", slices.Concat(page, page), pageSize, ""},
		{"more than a page", append(slices.Clone(page), "99"), 0, "More than 50 deliveries are selected. Nothing was done."},
		{"a word", []string{"7", "seven"}, 0, `"seven" is not the id of a delivery. Nothing was done.`},
		{"too large", []string{"9223372036854775808"}, 0, "is not the id of a delivery"},
	} {
		var m many
		err := m.tick(c.ids)
		if c.wrong != "" {
			if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if err != nil || m.ticked != c.want || len(m.filter.IDs) != c.want || len(m.form) != c.want {
			t.Errorf("%s: %d are ticked, %v posted, %v", c.name, m.ticked, m.form, err)
		}
	}
}
