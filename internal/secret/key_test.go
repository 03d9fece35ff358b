package secret

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

func TestKeyIsGeneratedOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	d := fresh(t)
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := LoadKey(t.Context(), d, Value{}, dir)
			if err != nil {
				t.Error(err)
			}
			keys[i] = key
		})
	}
	all.Wait()
	for _, key := range keys {
		if len(key) != KeySize || !bytes.Equal(key, keys[0]) {
			t.Fatalf("starts at once got different keys")
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 1 || files[0].Name() != "secret.key" {
		t.Fatalf("left %v (%v), want secret.key alone", files, err)
	}
	info, err := files[0].Info()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("secret.key has mode %v (%v)", info.Mode(), err)
	}
}

func TestConfiguredKey(t *testing.T) {
	want := bytes.Repeat([]byte{7}, KeySize)
	good := base64.StdEncoding.EncodeToString(want)
	if key, err := LoadKey(t.Context(), nil, New(" "+good+"\n"), ""); err != nil || !bytes.Equal(key, want) {
		t.Errorf("got %v, %v", key, err)
	}
	for _, bad := range []string{"hunter2", good[:20], base64.StdEncoding.EncodeToString(want[:16])} {
		_, err := LoadKey(t.Context(), nil, New(bad), t.TempDir())
		if !fault.Is(err, fault.Invalid) {
			t.Errorf("%q: %v", bad, err)
		} else if strings.Contains(err.Error(), bad) {
			t.Errorf("the error shows the key: %v", err)
		}
	}
}

func TestDamagedKeyFileIsRefusedAndKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "secret.key")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(t.Context(), nil, Value{}, dir); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), path) {
		t.Errorf("an empty key file gave %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) != 0 {
		t.Errorf("the file was touched: %q, %v", text, err)
	}
}

// fresh is a database that no key was proved on.
func fresh(t *testing.T) *db.DB {
	t.Helper()
	d := dbtest.SQLite(t, Migrations)
	if err := d.Migrate(t.Context(), Migrations); err != nil {
		t.Fatal(err)
	}
	return d
}

// Where the key is lost, no other one is left lying in its place; a start that
// died before the key was proved is just done again.
func TestALostKeyIsNotReplaced(t *testing.T) {
	d, dir := fresh(t), t.TempDir()
	path := filepath.Join(dir, "secret.key")
	if _, err := LoadKey(t.Context(), d, Value{}, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	key, err := LoadKey(t.Context(), d, Value{}, dir)
	if err != nil {
		t.Fatalf("a key that was never used: %v", err)
	}
	if _, err := Open(t.Context(), d, key, nil); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadKey(t.Context(), d, Value{}, dir); !fault.Is(err, fault.Conflict) || !strings.Contains(err.Error(), path) {
		t.Errorf("without the key: %v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("left %v (%v)", files, err)
	}
}

func TestRandomAndFingerprint(t *testing.T) {
	if a, b := Random(32), Random(32); a == b || len(a) != 43 || strings.ContainsAny(a, "+/=") {
		t.Errorf("Random gave %s and %s", a, b)
	}
	if !bytes.Equal(Fingerprint("a"), Fingerprint("a")) || bytes.Equal(Fingerprint("a"), Fingerprint("b")) {
		t.Error("Fingerprint does not tell a from b")
	}
}
