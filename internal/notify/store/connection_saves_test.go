package store

import (
	"fmt"
	"sync"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// Of saves at once some are refused, and a transaction that they share is undone
// and run again: the others go through, and no stored token goes to another server.
func TestSavesOfAConnectionAtOnce(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		const server = "https://code.example.com"
		if _, _, err := s.CreateConnection(t.Context(), ada, notify.Connection{
			Name: "second", Kind: "bitbucket-dc", BaseURL: server, User: "bot", Token: secret.New("the token"),
		}, nil); err != nil {
			t.Fatal(err)
		}
		saves := []func(i int) error{
			func(i int) error {
				_, err := s.SaveConnection(t.Context(), ada, notify.Connection{Name: "second", BaseURL: server, User: fmt.Sprint("bot", i)}, nil, nil)
				return err
			},
			func(int) error {
				_, err := s.SaveConnection(t.Context(), ada, notify.Connection{Name: "second", BaseURL: "https://elsewhere.example.com", User: "bot"}, nil, nil)
				if fault.Is(err, fault.Invalid) {
					return nil
				}
				return fmt.Errorf("a save without the token for another server: %w", err)
			},
		}
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				if err := saves[i%2](i); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if err := s.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		if c := s.Platforms().Connections.Find("second"); c.BaseURL != server || c.Version != 21 {
			t.Errorf("it is at version %d, of %s", c.Version, c.BaseURL)
		}
	})
}
