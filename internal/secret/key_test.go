package secret

import (
	"bytes"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/fault"
)

func TestKeyIsGeneratedOnceAndKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	keys := make([][]byte, 8)
	var all sync.WaitGroup
	for i := range keys {
		all.Go(func() {
			key, err := LoadKey(Value{}, dir)
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
	if key, err := LoadKey(New(" "+good+"\n"), ""); err != nil || !bytes.Equal(key, want) {
		t.Errorf("got %v, %v", key, err)
	}
	for _, bad := range []string{"hunter2", good[:20], base64.StdEncoding.EncodeToString(want[:16])} {
		_, err := LoadKey(New(bad), t.TempDir())
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
	if _, err := LoadKey(Value{}, dir); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), path) {
		t.Errorf("an empty key file gave %v", err)
	}
	if text, err := os.ReadFile(path); err != nil || len(text) != 0 {
		t.Errorf("the file was touched: %q, %v", text, err)
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
