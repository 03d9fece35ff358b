package dbtest

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"outrigger/internal/db"
)

// table is what both databases must have alike.
type table struct {
	Columns  []column
	Primary  []string
	Unique   []string // the columns of each constraint
	Indexes  []index
	Foreign  []string // columns, table, columns, what happens on a delete
	Checks   int      // how many; their texts differ too much to compare
	Versions []int64  // of schema_migrations, under the name of the component
}

type column struct {
	Name      string
	Type      string
	NotNull   bool
	Default   string
	Generated bool // numbers its rows by itself
}

type index struct {
	Name    string
	Columns []string // an expression shows as one word
	Unique  bool
	Partial bool
}

// SameSchema fails t unless the sets make the same schema on both databases:
// migrations, tables, columns, defaults, primary and foreign keys, unique
// constraints, indexes, and the number of checks. On SQLite every table must
// be STRICT, on PostgreSQL every text COLLATE "C".
func SameSchema(t *testing.T, sets ...db.Migrations) {
	t.Helper()
	one, other := SQLite(t), Postgres(t)
	for _, d := range []*db.DB{one, other} {
		if err := d.Migrate(t.Context(), sets...); err != nil {
			t.Fatal(err)
		}
	}
	diff, err := compare(t.Context(), one, other)
	if err != nil {
		t.Fatal(err)
	}
	if diff != "" {
		t.Errorf("the schema on SQLite (-) and PostgreSQL (+) differs:\n%s", diff)
	}
}

// compare says how the schemas differ, empty when they do not.
func compare(ctx context.Context, one, other *db.DB) (string, error) {
	var sqlite, postgres map[string]*table
	err := one.Read(ctx, func(tx *db.Tx) (err error) {
		sqlite, err = sqliteSchema(ctx, tx)
		return err
	})
	if err != nil {
		return "", err
	}
	err = other.Read(ctx, func(tx *db.Tx) (err error) {
		postgres, err = postgresSchema(ctx, tx)
		return err
	})
	if err != nil {
		return "", err
	}
	normalize(sqlite, postgres)
	return gocmp.Diff(sqlite, postgres), nil
}

var cast = regexp.MustCompile(`::[a-z ]+$`)

// normalize removes what may differ: the order of things that have none, casts
// in defaults, and that a SQLite primary key of one integer can number its rows
// even where PostgreSQL's does not.
func normalize(sqlite, postgres map[string]*table) {
	for name, s := range sqlite {
		p := postgres[name]
		if p == nil {
			continue
		}
		for i := range s.Columns {
			if i < len(p.Columns) && !p.Columns[i].Generated {
				s.Columns[i].Generated = false
			}
		}
	}
	for _, schema := range []map[string]*table{sqlite, postgres} {
		for _, t := range schema {
			for i := range t.Columns {
				t.Columns[i].Default = cast.ReplaceAllString(t.Columns[i].Default, "")
			}
			slices.Sort(t.Unique)
			slices.Sort(t.Foreign)
			slices.SortFunc(t.Indexes, func(a, b index) int { return cmp.Compare(a.Name, b.Name) })
		}
	}
}

// foreign is how a foreign key is written in table.Foreign.
func foreign(from []string, to string, columns []string, onDelete string) string {
	return fmt.Sprintf("(%s) → %s (%s) on delete %s", strings.Join(from, ", "), to, strings.Join(columns, ", "), strings.ToLower(onDelete))
}
