package store

import (
	"errors"
	"slices"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// The connections of the file are replaced as a whole, with what is recorded about it;
// where that fails, those of before hold.
func TestReplaceFile(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		kept := func(*db.Tx) error { return nil }
		expect := func(want ...string) {
			t.Helper()
			var got []string
			for _, c := range s.Platforms().Connections {
				got = append(got, c.Name)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("the connections are %q, not %q", got, want)
			}
		}
		if err := s.ReplaceFile(t.Context(), notify.Connections{{Name: "a", Kind: "bitbucket-dc"}, {Name: "b", Kind: "bitbucket-dc"}}, kept); err != nil {
			t.Fatal(err)
		}
		expect("a", "b")
		if s.Platforms().Connections.Find("a").Decode == nil {
			t.Error("its webhooks cannot be decoded")
		}
		full := errors.New("full")
		if err := s.ReplaceFile(t.Context(), nil, func(*db.Tx) error { return full }); !errors.Is(err, full) {
			t.Fatal(err)
		}
		expect("a", "b")
		if err := s.ReplaceFile(t.Context(), notify.Connections{{Name: "b", Kind: "bitbucket-dc"}}, kept); err != nil {
			t.Fatal(err)
		}
		expect("b")
	})
}
