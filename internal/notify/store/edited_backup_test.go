package store

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Who writes a backup without knowing the key cannot have a stored secret sent to
// a server of their own, by another address beside it.
func TestASecretIsSealedForItsServer(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		c := notify.Connection{Name: "second", Kind: "bitbucket-dc", BaseURL: "https://code.example.com", Token: secret.New("the-token")}
		if _, _, err := s.CreateConnection(t.Context(), ada, c, nil); err != nil {
			t.Fatal(err)
		}
		given, err := s.SaveAuthorization(t.Context(), ada, notify.Authorization{Connection: "second", AccountID: "{ann}", BaseURL: c.BaseURL, UserID: 1},
			notify.AccountTokens{Access: secret.New("an-access-token"), Refresh: secret.New("a-refresh-token"), Expires: time.Now()})
		if err != nil {
			t.Fatal(err)
		}
		read := func() (token, access, refresh string) {
			t.Helper()
			if err := s.Load(t.Context()); err != nil {
				t.Fatal(err)
			}
			_, tokens, err := s.AccountTokens(t.Context(), given.ID)
			if err != nil {
				t.Fatal(err)
			}
			return s.Platforms().Connections.Find("second").Token.Reveal(), tokens.Access.Reveal(), tokens.Refresh.Reveal()
		}
		if token, access, refresh := read(); token != "the-token" || access != "an-access-token" || refresh != "a-refresh-token" {
			t.Fatalf("read back %q, %q, %q", token, access, refresh)
		}
		for _, table := range []string{"notify_connections", "notify_authorizations"} {
			if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE `+table+` SET base_url = 'https://evil.example'`)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		s = newStore(t, s.db) // as after a restore
		if token, access, refresh := read(); token+access+refresh != "" {
			t.Errorf("with another address: %q, %q, %q", token, access, refresh)
		}
	})
}
