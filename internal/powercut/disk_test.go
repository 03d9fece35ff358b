package powercut

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mounted shows a disk at a folder until the function that it gives is called.
func mounted(t *testing.T, d *Disk, folder string) (unmount func()) {
	t.Helper()
	end, err := d.Mount(folder)
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		t.Helper()
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

// write writes a file, and syncs it where that is asked for.
func write(t *testing.T, path string, data []byte, sync bool) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(data); err != nil {
		t.Fatal(err)
	}
	if sync {
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b
}

// What was synced is there after every cut; what was not is there whole, in
// part or not at all, and of all three there are examples.
func TestCutKeepsWhatWasSynced(t *testing.T) {
	synced := bytes.Repeat([]byte("s"), 3000)
	unsynced := bytes.Repeat([]byte("u"), 3000)
	seen := map[string]bool{}
	for seed := range uint64(60) {
		d, folder := New(seed), t.TempDir()
		unmount := mounted(t, d, folder)
		write(t, filepath.Join(folder, "file"), synced, true)
		write(t, filepath.Join(folder, "file"), unsynced, false)
		write(t, filepath.Join(folder, "unsynced"), unsynced, false)
		if got := read(t, filepath.Join(folder, "file")); len(got) != len(synced)+len(unsynced) {
			t.Fatalf("before the cut the file has %d bytes", len(got))
		}
		unmount()
		d.Cut()
		unmount = mounted(t, d, folder)
		got := read(t, filepath.Join(folder, "file"))
		if !bytes.HasPrefix(got, synced) {
			t.Fatalf("seed %d: what was synced is gone", seed)
		}
		switch rest := got[len(synced):]; {
		case len(rest) == 0:
			seen["nothing"] = true
		case bytes.Equal(rest, unsynced):
			seen["everything"] = true
		default:
			seen["a part"] = true
		}
		if _, err := os.Stat(filepath.Join(folder, "unsynced")); err != nil {
			seen["no name"] = true
		}
		unmount()
	}
	for _, what := range []string{"nothing", "everything", "a part", "no name"} {
		if !seen[what] {
			t.Errorf("of what was not synced %s was never left", what)
		}
	}
}

// A failed sync is told once, and the next one says that all is well: what it
// should have written is lost in a cut all the same.
func TestFailedSyncLosesForGood(t *testing.T) {
	lost := false
	for seed := range uint64(20) {
		d, folder := New(seed), t.TempDir()
		unmount := mounted(t, d, folder)
		path := filepath.Join(folder, "data-wal")
		write(t, path, nil, true)
		d.FailSync("-wal")
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte("lost")); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("the sync: %v", err)
		}
		if err := f.Sync(); err != nil {
			t.Fatalf("the sync after it: %v", err)
		}
		f.Close()
		if got := read(t, path); string(got) != "lost" {
			t.Errorf("reads see %q", got)
		}
		unmount()
		d.Cut()
		unmount = mounted(t, d, folder)
		lost = lost || len(read(t, path)) == 0
		unmount()
		if d.Failed() != 1 {
			t.Errorf("%d syncs failed", d.Failed())
		}
	}
	if !lost {
		t.Error("no cut lost what the failed sync did not write")
	}
}

func TestNamesKeepTheirOrder(t *testing.T) {
	for seed := range uint64(30) {
		d, folder := New(seed), t.TempDir()
		unmount := mounted(t, d, folder)
		in := func(name string) string { return filepath.Join(folder, name) }
		write(t, in("a"), []byte("first"), true)
		write(t, in("new"), []byte("second"), true)
		if err := os.Rename(in("new"), in("a")); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(in("after"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		unmount()
		d.Cut()
		unmount = mounted(t, d, folder)
		_, err := os.Stat(in("after"))
		switch got := string(read(t, in("a"))); {
		case got != "first" && got != "second":
			t.Errorf("seed %d: a holds %q", seed, got)
		case err == nil && got != "second":
			t.Errorf("seed %d: a later name is there without the rename", seed)
		}
		unmount()
	}
}

func TestCopyTo(t *testing.T) {
	d, folder, plain := New(1), t.TempDir(), t.TempDir()
	unmount := mounted(t, d, folder)
	write(t, filepath.Join(folder, "file"), []byte("what programs see"), false)
	unmount()
	if err := d.CopyTo(plain); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(plain, "file")); string(got) != "what programs see" {
		t.Errorf("the copy holds %q", got)
	}
}
