package dbtest

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/db"
)

// postgresSchema reads the schema out of the catalogues.
func postgresSchema(ctx context.Context, tx *db.Tx) (map[string]*table, error) {
	schema := map[string]*table{}
	for _, read := range []func(context.Context, *db.Tx, map[string]*table) error{postgresColumns, postgresConstraints, postgresIndexes} {
		if err := read(ctx, tx, schema); err != nil {
			return nil, err
		}
	}
	return schema, versions(ctx, tx, schema)
}

// sqliteTypes are the types of the schema as SQLite names them.
var sqliteTypes = map[string]string{"bigint": "INTEGER", "text": "TEXT", "bytea": "BLOB", "double precision": "REAL"}

func postgresColumns(ctx context.Context, tx *db.Tx, schema map[string]*table) error {
	return tx.EachRow(ctx, "reading columns", func(row db.Row) error {
		var name, kind, collation, identity string
		var c column
		if err := row.Scan(&name, &c.Name, &kind, &c.NotNull, &c.Default, &identity, &collation); err != nil {
			return err
		}
		c.Type = sqliteTypes[kind]
		if c.Type == "" || kind == "text" && collation != "C" {
			return fmt.Errorf("the column %s.%s is %s, collation %q: SQLite has nothing like it", name, c.Name, kind, collation)
		}
		c.Generated = identity != ""
		if schema[name] == nil {
			schema[name] = &table{}
		}
		schema[name].Columns = append(schema[name].Columns, c)
		return nil
	}, `SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
			coalesce(pg_get_expr(d.adbin, d.adrelid), ''), a.attidentity::text, coalesce(co.collname, '')
		FROM pg_attribute a
		JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace
		LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
		LEFT JOIN pg_collation co ON co.oid = a.attcollation
		WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum`)
}

func postgresConstraints(ctx context.Context, tx *db.Tx, schema map[string]*table) error {
	deletes := map[string]string{"a": "no action", "r": "restrict", "c": "cascade", "n": "set null", "d": "set default"}
	return tx.EachRow(ctx, "reading constraints", func(row db.Row) error {
		var name, kind, columns, to, toColumns, onDelete string
		if err := row.Scan(&name, &kind, &columns, &to, &toColumns, &onDelete); err != nil {
			return err
		}
		t := schema[name]
		switch kind {
		case "p":
			t.Primary = strings.Split(columns, ", ")
		case "u":
			t.Unique = append(t.Unique, columns)
		case "c":
			t.Checks++
		case "f":
			t.Foreign = append(t.Foreign, foreign([]string{columns}, to, []string{toColumns}, deletes[onDelete]))
		}
		return nil
	}, `SELECT c.relname, k.contype::text,
			coalesce((SELECT string_agg(a.attname, ', ' ORDER BY n) FROM unnest(k.conkey) WITH ORDINALITY u(num, n)
				JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.num), ''),
			coalesce(f.relname, ''),
			coalesce((SELECT string_agg(a.attname, ', ' ORDER BY n) FROM unnest(k.confkey) WITH ORDINALITY u(num, n)
				JOIN pg_attribute a ON a.attrelid = k.confrelid AND a.attnum = u.num), ''),
			k.confdeltype::text
		FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid LEFT JOIN pg_class f ON f.oid = k.confrelid
		WHERE c.relnamespace = current_schema()::regnamespace`)
}

func postgresIndexes(ctx context.Context, tx *db.Tx, schema map[string]*table) error {
	return tx.EachRow(ctx, "reading indexes", func(row db.Row) error {
		var name, columns string
		var i index
		if err := row.Scan(&name, &i.Name, &i.Unique, &i.Partial, &columns); err != nil {
			return err
		}
		i.Columns = strings.Split(columns, ", ")
		schema[name].Indexes = append(schema[name].Indexes, i)
		return nil
	}, `SELECT c.relname, i.relname, x.indisunique, x.indpred IS NOT NULL,
			(SELECT string_agg(coalesce(a.attname, 'expression') || CASE WHEN x.indoption[n - 1] & 1 = 1 THEN ' desc' ELSE '' END, ', ' ORDER BY n)
				FROM generate_series(1, x.indnkeyatts) n
				LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[n - 1] AND a.attnum > 0)
		FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
		WHERE c.relnamespace = current_schema()::regnamespace
			AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u'))`)
}
