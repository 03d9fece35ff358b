package db

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
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
	dir      string
	file     *os.File     // the database; closed after SQLite, whose locks end with the first close in a process
	pageSize int64        // of the database, in bytes
	reserved atomic.Int64 // so long the database file can get; 0: not known
	needs    atomic.Int64 // how many bytes a full disk should have again

	mu      sync.Mutex
	failed  error        // what everything is refused with; nil while the disk works
	report  chan error   // one slot: why, once
	refuses *fault.Error // the last write that was; nil: the folder has taken data since
	opened  []os.FileInfo
	looked  time.Time // when they were looked for last
	gone    error     // what that found
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
		if errors.Is(err, errFull) { // reserve's
			return k.refused(errFull, err)
		}
		return err
	}
	gone := k.look(0) // reads fail too where the log is missing
	refusal := sync.OnceValue(func() error { return k.refusal(probeSize) })
	switch {
	case final(s.Code(), func() bool { return gone != nil || refusal() != nil }):
		return k.fail(err)
	case gone != nil:
		return gone
	}
	switch s.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return k.refused(errFull, err)
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN:
		if why := refusal(); why != nil {
			return k.refused(why, err)
		}
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
			"The disk of the data folder %s failed. Nothing more is saved, and the server ends at once. Check the disk and the system's "+
				"log. Then start the server again, if the service manager has not: it first recovers what was acknowledged.", k.dir)
	}
	return k.failed
}

// final reports whether an error of SQLite, by its extended code
// (https://sqlite.org/rescode.html), means that the files cannot be trusted:
// a sync that failed, and every I/O error but that of a disk that refuses to be
// written, since it is full or read-only. refuses is asked where the code does
// not tell.
func final(code int, refuses func() bool) bool {
	switch code {
	case sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_DIR_FSYNC:
		return true // a full disk too: what was not written counts as clean
	case sqlite3.SQLITE_IOERR_NOMEM:
		return false // memory, not the disk
	}
	return code&0xff == sqlite3.SQLITE_IOERR && !refuses()
}
