package dbtest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/db"
)

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

// numbered ends the line of a column that numbers rows by itself.
const numbered = " numbers its rows"

// compare says how the schemas differ, empty when they do not.
func compare(ctx context.Context, one, other *db.DB) (string, error) {
	sqlite, err := sqliteChecks(ctx, one)
	if err != nil {
		return "", err
	}
	more, err := describe(ctx, one, sqliteSchema...)
	if err != nil {
		return "", err
	}
	postgres, err := describe(ctx, other, postgresSchema...)
	if err != nil {
		return "", err
	}
	var diff []string
	for _, line := range append(sqlite, more...) {
		// A SQLite primary key of one integer can number its rows even where PostgreSQL's does not.
		if !slices.Contains(postgres, line) && !strings.HasSuffix(line, numbered) {
			diff = append(diff, "- "+line)
		}
		postgres = slices.DeleteFunc(postgres, func(other string) bool { return line == other })
	}
	for _, line := range postgres {
		diff = append(diff, "+ "+line)
	}
	return strings.Join(diff, "\n"), nil
}

// describe returns the lines of queries, each of which says something of the schema.
func describe(ctx context.Context, d *db.DB, queries ...string) (lines []string, err error) {
	const versions = `SELECT component || ' Version ' || CAST(version AS TEXT) FROM schema_migrations`
	err = d.Read(ctx, func(tx *db.Tx) error {
		lines = nil
		for _, q := range append(queries, versions) {
			err := tx.EachRow(ctx, "reading the schema", func(row db.Row) error {
				var line string
				err := row.Scan(&line)
				lines = append(lines, line)
				return err
			}, q)
			if err != nil {
				return err
			}
		}
		return nil
	})
	return lines, err
}

const (
	sqliteTables = `sqlite_master m JOIN pragma_table_list l ON l.name = m.name AND m.type = 'table' AND m.name NOT LIKE 'sqlite%'`
	// sqliteKey are the columns of an index i, where an expression shows as one word.
	sqliteKey = `(SELECT group_concat(coalesce(x.name, 'expression') || iif(x."desc", ' desc', ''), ', ' ORDER BY x.seqno)
		FROM pragma_index_xinfo(i.name) x WHERE x.key = 1)`
)

// sqliteSchema asks the table-valued pragmas.
var sqliteSchema = []string{
	`SELECT concat(m.name, ' column ', c.cid + 1, ' ', c.name, ' ', c.type, iif(c."notnull" OR c.pk, ' NotNull', ''),
			' Default ', c.dflt_value)
		FROM ` + sqliteTables + ` JOIN pragma_table_info(m.name) c`,
	`SELECT concat(m.name, '.', c.name, '` + numbered + `') FROM ` + sqliteTables + ` JOIN pragma_table_info(m.name) c
		WHERE c.pk AND c.type = 'INTEGER'`,
	`SELECT concat(m.name, ' Primary ', group_concat(c.name, ', ' ORDER BY c.pk)) FROM ` + sqliteTables + ` JOIN pragma_table_info(m.name) c
		WHERE c.pk GROUP BY m.name`,
	`SELECT concat(m.name, ' Unique ', ` + sqliteKey + `) FROM ` + sqliteTables + ` JOIN pragma_index_list(m.name) i WHERE i.origin = 'u'`,
	`SELECT concat(m.name, ' index ', i.name, ' ', ` + sqliteKey + `, iif(i."unique", ' Unique', ''), iif(i.partial, ' Partial', ''))
		FROM ` + sqliteTables + ` JOIN pragma_index_list(m.name) i WHERE i.origin = 'c'`,
	`SELECT concat(m.name, ' Foreign ', group_concat(f."from", ', ' ORDER BY f.seq), ' to ', f."table", ' ',
			group_concat(coalesce(f."to", (SELECT k.name FROM pragma_table_info(f."table") k WHERE k.pk = f.seq + 1)), ', ' ORDER BY f.seq),
			' on delete ', lower(f.on_delete))
		FROM ` + sqliteTables + ` JOIN pragma_foreign_key_list(m.name) f GROUP BY m.name, f.id`,
}

var (
	check   = regexp.MustCompile(`(?i)\bCHECK\s*\(`)
	comment = regexp.MustCompile(`--.*`)
)

// sqliteChecks counts the checks of each table: their texts differ too much to compare.
func sqliteChecks(ctx context.Context, d *db.DB) (lines []string, err error) {
	err = d.Read(ctx, func(tx *db.Tx) error {
		lines = nil
		return tx.EachRow(ctx, "reading tables", func(row db.Row) error {
			var name, script string
			var strict bool
			if err := row.Scan(&name, &script, &strict); err != nil {
				return err
			}
			if !strict {
				return fmt.Errorf("the table %s is not STRICT", name)
			}
			lines = append(lines, fmt.Sprintf("%s Checks %d", name, len(check.FindAllString(comment.ReplaceAllString(script, ""), -1))))
			return nil
		}, `SELECT m.name, m.sql, l.strict FROM `+sqliteTables)
	})
	return lines, err
}

const (
	postgresTables = `pg_class c WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`
	// postgresKey are the columns with the numbers of a list, of a table.
	postgresKey = `(SELECT string_agg(a.attname, ', ' ORDER BY n) FROM unnest(%s) WITH ORDINALITY u(num, n)
		JOIN pg_attribute a ON a.attrelid = %s AND a.attnum = u.num)`
)

// postgresSchema asks the catalogues, and names types as SQLite does.
var postgresSchema = []string{
	`SELECT concat(c.relname, ' column ', row_number() OVER (PARTITION BY c.relname ORDER BY a.attnum), ' ', a.attname, ' ',
			CASE format_type(a.atttypid, a.atttypmod) WHEN 'bigint' THEN 'INTEGER' WHEN 'bytea' THEN 'BLOB'
				WHEN 'double precision' THEN 'REAL'
				WHEN 'text' THEN 'TEXT' || coalesce((SELECT ' collation ' || collname FROM pg_collation co
					WHERE co.oid = a.attcollation AND collname <> 'C'), '')
				ELSE format_type(a.atttypid, a.atttypmod) END,
			CASE WHEN a.attnotnull THEN ' NotNull' END, ' Default ', regexp_replace(pg_get_expr(d.adbin, d.adrelid), '::[a-z ]+$', ''))
		FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum, ` + postgresTables + `
			AND a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped`,
	`SELECT concat(c.relname, '.', a.attname, '` + numbered + `') FROM pg_attribute a, ` + postgresTables + `
		AND a.attrelid = c.oid AND a.attidentity <> ''`,
	`SELECT concat(c.relname, CASE k.contype WHEN 'p' THEN ' Primary ' ELSE ' Unique ' END,
			` + fmt.Sprintf(postgresKey, "k.conkey", "k.conrelid") + `)
		FROM pg_constraint k, ` + postgresTables + ` AND k.conrelid = c.oid AND k.contype IN ('p', 'u')`,
	`SELECT concat(c.relname, ' Foreign ', ` + fmt.Sprintf(postgresKey, "k.conkey", "k.conrelid") + `, ' to ', k.confrelid::regclass, ' ',
			` + fmt.Sprintf(postgresKey, "k.confkey", "k.confrelid") + `, ' on delete ', CASE k.confdeltype WHEN 'a' THEN 'no action'
				WHEN 'r' THEN 'restrict' WHEN 'c' THEN 'cascade' WHEN 'n' THEN 'set null'
				WHEN 'd' THEN 'set default' END)
		FROM pg_constraint k, ` + postgresTables + ` AND k.conrelid = c.oid AND k.contype = 'f'`,
	`SELECT concat(c.relname, ' Checks ', (SELECT count(*) FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype = 'c'))
		FROM ` + postgresTables,
	`SELECT concat(c.relname, ' index ', i.relname, ' ',
			(SELECT string_agg(coalesce(a.attname, 'expression') || CASE x.indoption[n - 1] & 1 WHEN 1 THEN ' desc' ELSE '' END,
				', ' ORDER BY n)
				FROM generate_series(1, x.indnkeyatts) n
				LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.indkey[n - 1] AND a.attnum > 0),
			CASE WHEN x.indisunique THEN ' Unique' END, CASE WHEN x.indpred IS NOT NULL THEN ' Partial' END)
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid, ` + postgresTables + ` AND c.oid = x.indrelid
			AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = x.indexrelid AND k.contype IN ('p', 'u'))`,
}
