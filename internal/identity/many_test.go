package identity

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// A script that signs in for every request fills no table, and ends no session
// that is in use.
func TestSessionsOfAUserAreLimited(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		n.mustCreate(t, "ann")
		used, _, err := n.SignIn(t.Context(), "ann", goodPassword, here)
		if err != nil {
			t.Fatal(err)
		}
		first := ""
		for i := range maxSessions + 5 {
			n.move(2 * time.Minute) // uses are stored to the minute
			if _, err := n.Session(t.Context(), used); err != nil {
				t.Fatalf("the session in use, after %d more: %v", i, err)
			}
			session, _, err := n.SignIn(t.Context(), "ann", goodPassword, here)
			if err != nil {
				t.Fatal(err)
			}
			if first == "" {
				first = session
			}
		}
		list, err := n.Sessions(t.Context(), "ann", 0, 1000)
		if err != nil || len(list) != maxSessions {
			t.Errorf("%d sessions, want %d; %v", len(list), maxSessions, err)
		}
		if _, err := n.Session(t.Context(), first); !fault.Is(err, fault.Unauthenticated) {
			t.Errorf("the one that was longest not used: %v", err)
		}
	})
}

func TestTokensOfAUserAreLimited(t *testing.T) {
	each(t, func(t *testing.T, n node) {
		u := n.mustCreate(t, "ann")
		n.mustCreate(t, "bob")
		rows := make([]string, maxTokens-1)
		for i := range rows {
			rows[i] = fmt.Sprintf("(%d, 'x', 'read', CAST('%d' AS %s), 0, 0, 0)", u.ID, i, map[db.Dialect]string{db.SQLite: "BLOB", db.Postgres: "BYTEA"}[n.db.Dialect()])
		}
		err := n.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO identity_tokens (user_id, name, scope, hash, created_at, expires_at, used_at) VALUES `+strings.Join(rows, ","))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		_, last, err := n.CreateToken(t.Context(), "ann", "the last", Read, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.CreateToken(t.Context(), "ann", "one more", Read, time.Time{}); !fault.Is(err, fault.Conflict) {
			t.Errorf("one more than %d: %v", maxTokens, err)
		}
		if _, _, err := n.CreateToken(t.Context(), "bob", "of another", Read, time.Time{}); err != nil {
			t.Error(err)
		}
		if err := n.RevokeToken(t.Context(), last.ID); err != nil {
			t.Fatal(err)
		}
		if _, _, err := n.CreateToken(t.Context(), "ann", "again", Read, time.Time{}); err != nil {
			t.Errorf("after one was revoked: %v", err)
		}
	})
}
