package dbtest

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"outrigger/internal/db"
)

var check = regexp.MustCompile(`(?i)\bCHECK\s*\(`)

// sqliteSchema reads the schema through the table-valued pragmas.
func sqliteSchema(ctx context.Context, tx *db.Tx) (map[string]*table, error) {
	schema := map[string]*table{}
	var names []string
	err := tx.EachRow(ctx, "reading tables", func(row db.Row) error {
		var name, script string
		var strict bool
		if err := row.Scan(&name, &script, &strict); err != nil {
			return err
		}
		if !strict {
			return fmt.Errorf("the table %s is not STRICT", name)
		}
		names = append(names, name)
		schema[name] = &table{Checks: len(check.FindAllString(withoutComments(script), -1))}
		return nil
	}, `SELECT m.name, m.sql, l.strict FROM sqlite_master m JOIN pragma_table_list l ON l.name = m.name
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY m.name`)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		t := schema[name]
		for _, read := range []func(context.Context, *db.Tx, string, *table) error{sqliteColumns, sqliteIndexes, sqliteForeign} {
			if err := read(ctx, tx, name, t); err != nil {
				return nil, fmt.Errorf("the table %s: %w", name, err)
			}
		}
	}
	return schema, versions(ctx, tx, schema)
}

func sqliteColumns(ctx context.Context, tx *db.Tx, name string, t *table) error {
	return tx.EachRow(ctx, "reading columns", func(row db.Row) error {
		var c column
		var key int
		if err := row.Scan(&c.Name, &c.Type, &c.NotNull, &c.Default, &key); err != nil {
			return err
		}
		if key > 0 {
			c.NotNull = true
			t.Primary = append(t.Primary, c.Name)
			c.Generated = c.Type == "INTEGER"
		}
		t.Columns = append(t.Columns, c)
		return nil
	}, `SELECT name, type, "notnull", coalesce(dflt_value, ''), pk FROM pragma_table_info($1) ORDER BY cid`, name)
}

func sqliteIndexes(ctx context.Context, tx *db.Tx, name string, t *table) error {
	var origins []string
	err := tx.EachRow(ctx, "reading indexes", func(row db.Row) error {
		var i index
		var origin string
		err := row.Scan(&i.Name, &i.Unique, &i.Partial, &origin)
		t.Indexes, origins = append(t.Indexes, i), append(origins, origin)
		return err
	}, `SELECT name, "unique", partial, origin FROM pragma_index_list($1)`, name)
	if err != nil {
		return err
	}
	all := t.Indexes
	t.Indexes = nil
	for n, i := range all {
		err := tx.EachRow(ctx, "reading an index's columns", func(row db.Row) error {
			var column string
			err := row.Scan(&column)
			i.Columns = append(i.Columns, column)
			return err
		}, `SELECT coalesce(name, 'expression') || CASE "desc" WHEN 1 THEN ' desc' ELSE '' END FROM pragma_index_xinfo($1) WHERE key = 1
			ORDER BY seqno`, i.Name)
		if err != nil {
			return err
		}
		switch origins[n] {
		case "c":
			t.Indexes = append(t.Indexes, i)
		case "u":
			t.Unique = append(t.Unique, strings.Join(i.Columns, ", "))
		case "pk": // in the order of the key, which the columns are not
			t.Primary = i.Columns
		}
	}
	return nil
}

func sqliteForeign(ctx context.Context, tx *db.Tx, name string, t *table) error {
	type key struct {
		to, onDelete string
		from, column []string
	}
	keys := map[int]*key{}
	err := tx.EachRow(ctx, "reading foreign keys", func(row db.Row) error {
		var id int
		var from, column, to, onDelete string
		if err := row.Scan(&id, &to, &from, &column, &onDelete); err != nil {
			return err
		}
		if keys[id] == nil {
			keys[id] = &key{to: to, onDelete: onDelete}
		}
		keys[id].from, keys[id].column = append(keys[id].from, from), append(keys[id].column, column)
		return nil
	}, `SELECT f.id, f."table", f."from", coalesce(f."to", (SELECT i.name FROM pragma_table_info(f."table") i
		WHERE i.pk = f.seq + 1)), f.on_delete
		FROM pragma_foreign_key_list($1) f ORDER BY f.id, f.seq`, name)
	for _, k := range keys {
		t.Foreign = append(t.Foreign, foreign(k.from, k.to, k.column, k.onDelete))
	}
	return err
}

// versions notes which migrations were applied, as a table of its own.
func versions(ctx context.Context, tx *db.Tx, schema map[string]*table) error {
	return tx.EachRow(ctx, "reading the versions of migrations", func(row db.Row) error {
		var component string
		var version int64
		if err := row.Scan(&component, &version); err != nil {
			return err
		}
		name := "migrations of " + component
		if schema[name] == nil {
			schema[name] = &table{}
		}
		schema[name].Versions = append(schema[name].Versions, version)
		return nil
	}, `SELECT component, version FROM schema_migrations ORDER BY component, version`)
}

// withoutComments removes what follows -- on each line.
func withoutComments(script string) string {
	lines := strings.Split(script, "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, "--")
	}
	return strings.Join(lines, "\n")
}
