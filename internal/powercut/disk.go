// Package powercut is a file system for tests: one folder that knows which
// writes have been synced, that loses what was not when the power is cut, and
// that fails a sync on demand.
//
// It behaves as ext4 does with ordered journaling, at its least favourable:
//
//   - a write is in the page cache at once, and on the disk after a sync of
//     its file. A power cut keeps any part of the unsynced writes, in sectors of
//     512 bytes (a torn write);
//   - names (create, link, rename, remove) reach the disk in their order. A sync of
//     any file or of the folder brings all of them there; a power cut keeps the
//     first so many of the rest;
//   - a failed sync reports EIO once. The pages that it did not write count as
//     clean from then on: reads see them, and the next sync, which does not write
//     them, succeeds (fsync(2), "Linux before and after 4.13"; the reason why
//     databases must not try again).
package powercut

import (
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// Disk is the folder. Its methods may be called at any time, also while it
// is mounted, but for Cut.
type Disk struct {
	mu      sync.Mutex
	names   map[string]*file // as programs see them
	onDisk  map[string]*file // as they are after a power cut
	pending []rename         // those that lead from onDisk to names
	random  *rand.Rand
	fail    string // a sync of a file with this ending fails, once
	failed  int
}

// rename is a change of names: from is empty for a new name, to for a removed
// one.
type rename struct {
	from, to string
	file     *file
}

// New makes an empty disk. Everything random in it follows from the seed.
func New(seed uint64) *Disk {
	return &Disk{
		names:  map[string]*file{},
		onDisk: map[string]*file{},
		random: rand.New(rand.NewPCG(seed, 0)),
	}
}

func (d *Disk) create(name string) *file {
	f := &file{mode: 0o600}
	d.rename(rename{to: name, file: f})
	return f
}

func (d *Disk) rename(r rename) {
	apply(d.names, r)
	d.pending = append(d.pending, r)
}

func apply(names map[string]*file, r rename) {
	if r.from != "" {
		delete(names, r.from)
	}
	if r.to != "" {
		names[r.to] = r.file
	}
}

// FailSync has the next sync of a file whose name has the ending suffix fail.
func (d *Disk) FailSync(suffix string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = suffix
}

// Failed is how many syncs have failed so far.
func (d *Disk) Failed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failed
}

// sync brings names and, where f is not nil, that file to the disk.
func (d *Disk) sync(f *file) syscall.Errno {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f != nil && d.fails(f) {
		d.fail = ""
		d.failed++
		f.keepSome(d.random)
		return syscall.EIO
	}
	for _, r := range d.pending {
		apply(d.onDisk, r)
	}
	d.pending = nil
	if f != nil {
		f.keepAll()
	}
	return 0
}

func (d *Disk) fails(f *file) bool {
	if d.fail == "" {
		return false
	}
	for name, named := range d.names {
		if named == f {
			return strings.HasSuffix(name, d.fail)
		}
	}
	return false
}

// Cut cuts the power: what was not synced is lost but for a random part. The
// disk must not be mounted.
func (d *Disk) Cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.pending[:d.random.IntN(len(d.pending)+1)] {
		apply(d.onDisk, r)
	}
	d.pending, d.fail = nil, ""
	for _, f := range d.onDisk {
		f.keepSome(d.random)
		f.now = append([]byte(nil), f.onDisk...)
	}
	d.names = maps.Clone(d.onDisk)
}

// CopyTo writes the files as programs see them into a folder of the machine,
// for tools that should find a plain file system.
func (d *Disk) CopyTo(folder string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for name, f := range d.names {
		if err := os.WriteFile(filepath.Join(folder, name), f.now, 0o600); err != nil {
			return err
		}
	}
	return nil
}
