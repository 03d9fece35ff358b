package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"outrigger/internal/fault"
)

// ErrDisk is in every error that comes from a disk that failed for good.
var ErrDisk = errors.New("the disk failed")

// disk is what is known of the files below SQLite: whether their disk failed, and
// whether they are still there.
//
// A failed fsync is final. Linux reports once that pages were not written,
// counts them as clean from then on, and says yes to the next fsync. So after
// one, nothing is written any more and no connection is closed: the last one to
// close would reset the log, and the next start needs it.
type disk struct {
	dir string

	mu     sync.Mutex
	failed error      // what everything is refused with; nil while the disk works
	report chan error // one slot: why, once
	opened []os.FileInfo
	looked time.Time // when they were looked for last
	gone   error     // what that found
}

func newDisk(dir string) *disk {
	return &disk{dir: dir, report: make(chan error, 1)}
}

// failure is nil while the disk works.
func (k *disk) failure() error {
	if k == nil { // PostgreSQL looks after its own
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.failed
}

// usable is nil while what is written and read is in the files of the folder.
func (k *disk) usable() error {
	if err := k.failure(); err != nil {
		return err
	}
	return k.look(lookEvery)
}

// judge is given every error that comes from SQLite. It gives it back, said in the
// words of the folder where those are better, or the failure of the disk.
func (k *disk) judge(err error) error {
	if err == nil {
		return nil
	}
	if failed := k.failure(); failed != nil {
		return failed
	}
	var s *sqlite.Error
	if !errors.As(err, &s) {
		return err
	}
	gone := k.look(0) // reads fail too where the log is missing
	full := sync.OnceValue(k.full)
	switch {
	case final(s.Code(), func() bool { return gone != nil || full() }):
		return k.fail(err)
	case gone != nil:
		return gone
	case s.Code()&0xff == sqlite3.SQLITE_IOERR && full():
		return fault.Wrap(fmt.Errorf("%w: %w", errFull, err), fault.Unavailable, "%s", sqliteOutage(sqlite3.SQLITE_FULL))
	}
	return err
}

// fail notes that the disk failed.
func (k *disk) fail(cause error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed == nil {
		k.failed = fault.Wrap(ErrDisk, fault.Unavailable, "The disk of the data folder failed, and the server ends.")
		k.report <- fault.Wrap(fmt.Errorf("%w: %w", ErrDisk, cause), fault.Unavailable,
			"The disk of the data folder %s failed. Nothing more is saved, and the server ends at once. Check the disk and the system's log. Then start the server again, if the service manager has not: it first recovers what was acknowledged.", k.dir)
	}
	return k.failed
}

// final tells whether an error of SQLite, by its extended code
// (https://sqlite.org/rescode.html), means that the files cannot be trusted:
// a sync that failed, and every I/O error but that of a full disk. full is
// asked where the code does not tell.
func final(code int, full func() bool) bool {
	switch code {
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return true // a full disk too: what was not written counts as clean
	case sqlite3.SQLITE_IOERR_NOMEM:
		return false // memory, not the disk
	}
	return code&0xff == sqlite3.SQLITE_IOERR && !full()
}

// full tells whether the folder takes no more data: no space, no quota, or no
// larger file. SQLite says "full" for ENOSPC only, and the driver does not tell
// which error of the system was behind an I/O error, so this tries a write like
// SQLite's: at the end of a file as long as the longest.
func (k *disk) full() bool {
	f, err := os.CreateTemp(k.dir, "outrigger.probe-*")
	if err != nil {
		return isFull(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_, err = f.WriteAt(make([]byte, probeSize), k.longest())
	return isFull(err)
}

// probeSize is more than SQLite writes at once, a page with its header, so that
// the last free blocks of a quota do not hide that it is used up.
const probeSize = 64 << 10

func (k *disk) longest() (size int64) {
	for _, name := range []string{databaseFile, logFile} {
		if info, err := os.Stat(filepath.Join(k.dir, name)); err == nil {
			size = max(size, info.Size())
		}
	}
	return size
}

func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
