package identity

import (
	"context"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// firstSchema is what the first file makes.
func firstSchema(t *testing.T) db.Migrations {
	t.Helper()
	files := fstest.MapFS{}
	for _, dialect := range []string{"sqlite", "postgres"} {
		name := "migrations/" + dialect + "/0001_identity.sql"
		content, err := fs.ReadFile(migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: content}
	}
	return db.Migrations{Name: Migrations.Name, FS: files}
}

// Tokens from before there was a scope backup go on, and ids that were given once,
// also of tokens that are gone, are not given again.
func TestTokensFromBeforeTheScopeBackup(t *testing.T) {
	for name, gone := range map[string]int{"some are left": 2, "all are gone": 3, "there were none": 0} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				n := newNode(t, d, newClock())
				n.seed(t, name != "there were none", gone)
				if err := d.Migrate(t.Context(), Migrations); err != nil {
					t.Fatal(err)
				}
				list, err := n.Tokens(t.Context(), "ann", 0, 10)
				if want := 3 - gone; name != "there were none" && (err != nil || len(list) != want) {
					t.Errorf("%d tokens of %d, %v", len(list), want, err)
				}
				for _, old := range list {
					if old.Name != "old" || old.Scope != Read {
						t.Errorf("it is now %+v", old)
					}
				}
				_, made, err := n.CreateToken(t.Context(), "ann", "nightly", Backup, time.Time{})
				if want := int64(4); err != nil || name != "there were none" && made.ID != want {
					t.Errorf("made %+v, %v", made, err)
				}
				if err := n.DeleteUser(t.Context(), "ann"); err != nil {
					t.Fatal(err)
				}
				if _, err := n.TokenByID(t.Context(), made.ID); err == nil {
					t.Error("tokens outlive their user")
				}
			}, secret.Migrations, audit.Migrations, firstSchema(t))
		})
	}
}

// seed makes a user and, where there are any, three tokens, of which the last are
// gone.
func (n node) seed(t *testing.T, any bool, gone int) {
	t.Helper()
	err := n.db.Write(t.Context(), func(tx *db.Tx) error {
		u := User{Name: "ann", Source: Local, CreatedAt: n.read()}
		if _, err := n.insertUser(context.Background(), tx, &u); err != nil || !any {
			return err
		}
		for i := range 3 {
			if _, err := tx.Exec(t.Context(), `INSERT INTO identity_tokens (user_id, name, scope, hash, created_at, expires_at, used_at)
				VALUES ($1, 'old', 'read', $2, 1, 0, 0)`, u.ID, []byte{byte(i)}); err != nil {
				return err
			}
		}
		_, err := tx.Exec(t.Context(), `DELETE FROM identity_tokens WHERE id > $1`, 3-gone)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
