package secret

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func keyOf(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }

func TestKeyIsProvedAtStart(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		// The first start lays the canary, also when two nodes start at once.
		boxes := make([]*Box, 4)
		var all sync.WaitGroup
		for i := range boxes {
			all.Go(func() {
				b, err := Open(t.Context(), d, keyOf(1), nil)
				if err != nil {
					t.Error(err)
				}
				boxes[i] = b
			})
		}
		all.Wait()
		if t.Failed() {
			t.FailNow()
		}
		sealed := boxes[0].Seal("hunter2", "notify_rules", "url", "7")
		for _, b := range boxes {
			if plain, err := b.Unseal(sealed, "notify_rules", "url", "7"); err != nil || plain != "hunter2" {
				t.Errorf("another node read %q, %v", plain, err)
			}
		}

		_, err := Open(t.Context(), d, keyOf(2), nil)
		if !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), "does not match this database. Use the key that it was created with") {
			t.Errorf("a wrong key gave %v", err)
		}
		if _, err := Open(t.Context(), d, keyOf(2)[:16], nil); err == nil {
			t.Error("a short key was taken")
		}

		// During a rotation both keys open, and only the new one seals.
		rotating, err := Open(t.Context(), d, keyOf(2), keyOf(1))
		if err != nil {
			t.Fatal(err)
		}
		if plain, err := rotating.Unseal(sealed, "notify_rules", "url", "7"); err != nil || plain != "hunter2" {
			t.Errorf("under the previous key: %q, %v", plain, err)
		}
		if _, err := boxes[0].Unseal(rotating.Seal("x", "t", "c", "1"), "t", "c", "1"); err == nil || !strings.Contains(err.Error(), "a key that is not configured") {
			t.Errorf("sealed with the new key, opened with the old one: %v", err)
		}
	}, Migrations)
}

// boxOf makes a Box without a database: only Open needs one.
func boxOf(t interface{ Fatal(...any) }, key []byte) *Box {
	s, err := newSealer(key)
	if err != nil {
		t.Fatal(err)
	}
	return &Box{current: s}
}

func TestSealedOpensInItsPlaceOnly(t *testing.T) {
	b := boxOf(t, keyOf(1))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "plain")
		at := rapid.SliceOfN(rapid.StringN(0, 4, -1), 3, 3).Draw(t, "place")
		sealed := b.Seal(text, at[0], at[1], at[2])
		if len(text) > 4 && bytes.Contains(sealed, []byte(text)) {
			t.Fatal("sealed in clear")
		}
		if bytes.Equal(sealed, b.Seal(text, at[0], at[1], at[2])) {
			t.Fatal("the same text is sealed alike twice")
		}
		if plain, err := b.Unseal(sealed, at[0], at[1], at[2]); err != nil || plain != text {
			t.Fatalf("got %q, %v", plain, err)
		}
		other := rapid.SliceOfN(rapid.StringN(0, 4, -1), 3, 3).Draw(t, "other place")
		if _, err := b.Unseal(sealed, other[0], other[1], other[2]); err == nil && !bytes.Equal(place(other[0], other[1], other[2]), place(at[0], at[1], at[2])) {
			t.Fatalf("sealed for %q, opened for %q", at, other)
		}
		bit := rapid.IntRange(0, len(sealed)*8-1).Draw(t, "bit")
		sealed[bit/8] ^= 1 << (bit % 8)
		if plain, err := b.Unseal(sealed, at[0], at[1], at[2]); err == nil {
			t.Fatalf("damaged at bit %d, and opened as %q", bit, plain)
		}
	})
	if bytes.Equal(place("a", "bc", "d"), place("ab", "c", "d")) {
		t.Error("two places read alike")
	}
}

func FuzzUnseal(f *testing.F) {
	b := boxOf(f, keyOf(1))
	f.Add([]byte(nil))
	f.Add(b.Seal("hunter2", "t", "c", "1"))
	f.Add(b.Seal("", "t", "c", "2"))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		if plain, err := b.Unseal(sealed, "t", "c", "2"); err == nil && plain != "" {
			t.Errorf("%x opened as %q", sealed, plain)
		}
	})
}
