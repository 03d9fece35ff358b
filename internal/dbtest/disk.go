package dbtest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Disk is a file system of its own, ext4 on a loop device. It needs root.
type Disk struct {
	Dir    string // where it is mounted
	device string
}

// NewDisk makes one of so many MiB, for the time of a test. What runs on it must end
// before the test does.
func NewDisk(t *testing.T, mib int64) *Disk {
	t.Helper()
	image, d := filepath.Join(t.TempDir(), "image"), &Disk{Dir: t.TempDir()}
	if err := errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, mib<<20)); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("mkfs.ext4", "-q", "-m", "0", "-E", "lazy_itable_init=0", image) // root has no reserve of its own
	run("mount", "-o", "loop,errors=remount-ro", image, d.Dir)
	t.Cleanup(func() {
		if err := syscall.Unmount(d.Dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	d.device = filepath.Base(run("findmnt", "-n", "-o", "SOURCE", d.Dir))
	return d
}

// Fill leaves at most so many bytes free, and returns what frees the rest again.
func (d *Disk) Fill(t *testing.T, leave int64) (empty func()) {
	t.Helper()
	filler := filepath.Join(d.Dir, "filler")
	f, err := os.OpenFile(filler, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for free := d.Free(t); free > leave; free = d.Free(t) {
		n := min(free-leave, 1<<20)
		if n < 4096 {
			break
		}
		if _, err := f.Write(make([]byte, n)); errors.Is(err, syscall.ENOSPC) {
			break // another was faster
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(filler); err != nil {
			t.Error(err)
		}
	}
}

// Free is how many bytes are free.
func (d *Disk) Free(t *testing.T) int64 {
	t.Helper()
	var fs syscall.Statfs_t
	if err := syscall.Statfs(d.Dir, &fs); err != nil {
		t.Fatal(err)
	}
	return int64(fs.Bavail) * fs.Bsize
}

// Break has the kernel find an error, after which the file system is read-only.
func (d *Disk) Break(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join("/sys/fs/ext4", d.device, "trigger_fs_error"), []byte("a test"), 0o200); err != nil {
		t.Fatal(err)
	}
}
