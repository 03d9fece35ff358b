package db

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"outrigger/internal/fault"
)

// Space is what a file system has for users, in bytes: without the blocks that are
// kept for root.
type Space struct {
	Free  int64
	Total int64
}

// Reserve is what is to stay free for the server that has its data there: a tenth of
// the file system, at most 20 GiB, since a large instance (50 events of 5 KB a second)
// writes as much in a day.
func (s Space) Reserve() int64 { return min(s.Total/10, 20<<30) }

// Spare is how much of it others than the server may take; negative where the server's
// reserve is used already.
func (s Space) Spare() int64 { return s.Free - s.Reserve() }

// MiB writes a number of bytes, rounded up.
func MiB(bytes int64) string { return fmt.Sprintf("%d MiB", (max(bytes, 0)+1<<20-1)>>20) }

const (
	// reserveStep is how much of the database file is set aside at once: so much
	// is written in some 50 ms of full load.
	reserveStep = 1 << 20
	// leastRoom is below what a disk that was full is so still: with less, some
	// writes are refused and others are not.
	leastRoom = 2 * reserveStep
	// startRoom is what a start writes before it is ready, several times over.
	startRoom = 512 << 10
	// fullPause is how often a start looks whether a full disk has room again.
	fullPause = time.Second
)

// reserve has the file system set aside what the database file will grow by when
// what was committed is moved into it, before it is committed. So a log can be
// moved on a full disk too, by a running server and by the start after a crash.
// Where it is refused, the disk is full, and nothing is committed.
func (k *disk) reserve(bytes int64) error {
	reserved := k.reserved.Load()
	if bytes <= reserved {
		return nil
	}
	info, err := k.file.Stat()
	if err != nil {
		return err
	}
	to := max(reserved, info.Size())
	if bytes > to {
		from := to
		to = (bytes + reserveStep - 1) / reserveStep * reserveStep
		err = allocate(k.file, from, to-from)
		if isFull(err) {
			to = bytes
			err = allocate(k.file, from, to-from)
		}
	}
	switch {
	case isFull(err):
		return fmt.Errorf("%w: setting aside room in the database file: %w", errFull, err)
	case err == nil:
		// Unless the log was moved meanwhile, which cuts off what was set aside.
		k.reserved.CompareAndSwap(reserved, to)
	}
	return nil // a file system that sets nothing aside is used as it is
}

// unreserved notes that the log was moved: SQLite then cuts the file to its size.
func (k *disk) unreserved() { k.reserved.Store(0) }

// refusal says why the folder takes no more data, errFull or errReadOnly; nil
// where it does. Full is: no space, no quota, or no larger file. SQLite says "full"
// for ENOSPC only, and the driver does not tell which error of the system was
// behind an I/O error, so this tries a write like SQLite's, at the end of a file as
// long as the longest.
func (k *disk) refusal(size int) error {
	f, err := os.CreateTemp(k.dir, probePattern)
	if err == nil {
		defer os.Remove(f.Name())
		defer f.Close()
		_, err = f.WriteAt(make([]byte, size), k.longest())
	}
	switch {
	case isFull(err):
		return errFull
	case errors.Is(err, syscall.EROFS):
		return errReadOnly
	}
	return nil
}

// probePattern names what refusal writes.
const probePattern = "outrigger.probe-*"

// probeSize is more than SQLite writes at once, a page with its header, so that
// the last free blocks of a quota do not hide that it is used up.
const probeSize = 64 << 10

func (k *disk) longest() int64 { return max(k.size(databaseFile), k.size(logFile)) }

// size is that of a file in the folder, 0 where there is none.
func (k *disk) size(name string) int64 {
	info, err := os.Stat(filepath.Join(k.dir, name))
	if err != nil {
		return 0
	}
	return info.Size()
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// refused is an error that refusal explains, in a sentence. The folder counts as
// refusing until room finds otherwise.
func (k *disk) refused(why, err error) error {
	if !errors.Is(err, why) {
		err = fmt.Errorf("%w: %w", why, err)
	}
	f := k.sentence(why, err)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.refuses = f
	return f
}

func (k *disk) sentence(why, err error) *fault.Error {
	if errors.Is(why, errReadOnly) {
		return fault.Wrap(err, fault.Unavailable,
			"The data folder %s is read-only. Make its file system writable again; the system's log may say why it is not. "+
				"Outrigger resumes by itself.", k.dir)
	}
	needs, free := k.needs.Load(), ""
	if has, unknown := SpaceOf(k.dir); unknown == nil {
		if has.Free >= needs {
			return fault.Wrap(err, fault.Unavailable,
				"The disk of the data folder %s is full for this user, by a quota or a limit on the size of files. "+
					"Raise it by at least %s; Outrigger then resumes by itself.", k.dir, MiB(needs))
		}
		free = " (" + MiB(has.Free) + " are free)"
	}
	return fault.Wrap(err, fault.Unavailable, "The disk of the data folder %s is full%s. Free at least %s; Outrigger then resumes by itself.",
		k.dir, free, MiB(needs))
}

// room is nil where the folder takes data, as far as is known: after a write that
// was refused, it tries.
func (k *disk) room() error {
	k.mu.Lock()
	was := k.refuses
	k.mu.Unlock()
	if was == nil {
		return nil
	}
	why := k.refusal(probeSize)
	if s, err := SpaceOf(k.dir); why == nil && err == nil && s.Free < leastRoom {
		why = errFull
	}
	if why != nil {
		return k.sentence(why, was)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuses == was {
		k.refuses = nil
	}
	return nil
}

// await waits until open, which opens the database, is refused no more for want of
// room, and says so first to full. It gives open's other errors.
func (k *disk) await(ctx context.Context, open func() error, full func(error)) error {
	for {
		err := open()
		if full == nil || !IsFull(err) {
			return err
		}
		full(err)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(fullPause):
		}
	}
}

// unwritable is the error of a folder in which a file cannot be opened.
func unwritable(err error, dir string) error {
	switch {
	case errors.Is(err, syscall.EROFS):
		return fault.Wrap(err, fault.Unavailable, "The data folder %s is read-only. Make its file system writable; "+
			"the system's log may say why it is not.", dir)
	case errors.Is(err, fs.ErrPermission):
		return fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be written by this user (%d). Make this user the owner of "+
			"the folder and of what is in it.", dir, os.Getuid())
	}
	return fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be used. Create it and make it writable for this user.", dir)
}
