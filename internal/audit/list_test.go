package audit

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// A list shows what may be seen and what was asked for, the newest first.
func TestList(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		err := d.Write(t.Context(), func(tx *db.Tx) error {
			for i, e := range []Entry{
				{Who: "ana", Area: "identity", Action: "create", Object: "user"},
				{Who: "Ana", Area: "notifications", Action: "update", Object: "rule", Connection: "dc", Project: "ATL", Repository: "canoe", Before: map[string]string{"name": "x"}, After: map[string]string{"name": "y"}},
				{Who: "bob", Area: "notifications", Action: "create", Object: "rule", Connection: "dc", Project: "ATL"},
				{Who: "bob", Area: "notifications", Action: "create", Object: "rule", Connection: "dc", Project: "SHOP", Repository: "canoe"},
				{Who: "bob", Area: "notifications", Action: "create", Object: "rule"},
				{Who: "bob", Area: "mail", Action: "delete", Object: "messages", Connection: "other", Project: "ATL"},
			} {
				e.At = now.Add(time.Duration(i) * time.Hour)
				if err := Record(t.Context(), tx, e); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		everything := Visible{All: true}
		for name, tc := range map[string]struct {
			visible Visible
			filter  Filter
			want    []int64
		}{
			"everything":            {everything, Filter{}, []int64{6, 5, 4, 3, 2, 1}},
			"a page":                {everything, Filter{Before: 4, Limit: 2}, []int64{3, 2}},
			"nothing":               {Visible{}, Filter{}, nil},
			"an area":               {Visible{Areas: []string{"notifications"}}, Filter{}, []int64{5, 4, 3, 2}},
			"a project":             {Visible{Places: []Place{{"dc", "atl", ""}}}, Filter{}, []int64{3, 2}},
			"a repository":          {Visible{Places: []Place{{"dc", "ATL", "CANOE"}}}, Filter{}, []int64{2}},
			"two places":            {Visible{Places: []Place{{"dc", "ATL", "canoe"}, {"dc", "SHOP", ""}}}, Filter{}, []int64{4, 2}},
			"who, without case":     {everything, Filter{Who: "ANA"}, []int64{2, 1}},
			"what":                  {everything, Filter{Action: "create", Object: "rule"}, []int64{5, 4, 3}},
			"area":                  {everything, Filter{Area: "mail"}, []int64{6}},
			"an area not seen":      {Visible{Areas: []string{"notifications"}}, Filter{Area: "mail"}, nil},
			"since":                 {everything, Filter{Since: now.Add(4 * time.Hour)}, []int64{6, 5}},
			"until":                 {everything, Filter{Until: now.Add(time.Hour)}, []int64{1}},
			"what is no name":       {everything, Filter{Who: "' OR 1=1 --"}, nil},
			"everything of a place": {Visible{Places: []Place{{"dc", "ATL", ""}}}, Filter{Who: "bob"}, []int64{3}},
		} {
			if tc.filter.Limit == 0 {
				tc.filter.Limit = 100
			}
			var got []int64
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				list, err := List(t.Context(), tx, tc.visible, tc.filter)
				for _, e := range list {
					got = append(got, e.ID)
					if e.ID == 2 && (e.Before["name"] != "x" || e.After["name"] != "y" || !e.At.Equal(now.Add(time.Hour))) {
						t.Errorf("read as %+v", e)
					}
				}
				if n, known, wrong := Count(t.Context(), tx, tc.visible, Filter{Who: tc.filter.Who, Area: tc.filter.Area, Action: tc.filter.Action, Object: tc.filter.Object,
					Since: tc.filter.Since, Until: tc.filter.Until}, 5); wrong != nil || !known || tc.filter.Before == 0 && n != min(len(list), 5) {
					t.Errorf("%s: counted %d, known %t, %v", name, n, known, wrong)
				}
				return err
			})
			if diff := cmp.Diff(tc.want, got); err != nil || diff != "" {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
	}, Migrations)
}
