package dbtest

import (
	"testing"

	"outrigger/internal/db"
)

// TestTemplates: databases that are copies of one have the whole schema, and
// what is written into one is in no other.
func TestTemplates(t *testing.T) {
	schema := scripts(sqliteScript, postgresScript)
	for range 2 {
		Each(t, func(t *testing.T, d *db.DB) {
			err := d.Write(t.Context(), func(tx *db.Tx) error {
				var applied, groups int
				if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM schema_migrations WHERE component IN ('db', 'a')").Scan(&applied); err != nil {
					return err
				}
				if err := tx.QueryRow(t.Context(), "SELECT count(*) FROM a_groups").Scan(&groups); err != nil {
					return err
				}
				if applied != 2 || groups != 0 {
					t.Errorf("%d migrations are applied and %d groups are there, want 2 and none", applied, groups)
				}
				_, err := tx.Exec(t.Context(), "INSERT INTO a_groups (name) VALUES ('only here')")
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}, schema)
	}
}

// TestTemplatesOfOtherSchemas: a schema that changes in one letter has a
// template of its own.
func TestTemplatesOfOtherSchemas(t *testing.T) {
	for _, name := range []string{"c_one", "c_two"} {
		script := "CREATE TABLE " + name + " (id INTEGER PRIMARY KEY)"
		Each(t, func(t *testing.T, d *db.DB) {
			err := d.Read(t.Context(), func(tx *db.Tx) error {
				var n int
				return tx.QueryRow(t.Context(), "SELECT count(*) FROM "+name).Scan(&n)
			})
			if err != nil {
				t.Error(err)
			}
		}, scripts(script+" STRICT", script))
	}
}
