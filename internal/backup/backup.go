// Package backup copies the whole database while the server runs, puts a copy
// in its place while it does not, and holds back all sending after that until
// an administrator confirms it: what waits in a copy may have gone out already.
package backup

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

//go:embed migrations
var migrations embed.FS

// Migrations is what a database knows about having been restored.
var Migrations = db.Migrations{Name: "backup", FS: migrations}

// Service makes backups and knows whether sending is held back.
type Service struct {
	db  *db.DB
	dir string // of the data
	to  string // where copies are made

	making sync.Mutex // one backup at a time: each takes the disk of a whole database
	size   atomic.Int64

	count     func(ctx context.Context, tx *db.Tx) (Pending, error)
	confirmed chan struct{} // closed once sending may begin
	holding   chan struct{} // closed once it must end

	knowing sync.Mutex
	known   bool      // the first heartbeat has been
	held    bool      // sending is held back on this node
	stopped bool      // holding is closed
	over    time.Time // when what was confirmed last began
}

// New makes a service on a migrated database whose data folder is dir. Copies are
// made in the folder to; "" is dir. count says what waits in the database.
func New(d *db.DB, dir, to string, count func(ctx context.Context, tx *db.Tx) (Pending, error)) *Service {
	return &Service{db: d, dir: dir, to: cmp.Or(to, dir), count: count, confirmed: make(chan struct{}), holding: make(chan struct{})}
}

// Make copies the database into a file and returns it, open at its start, with its
// size in bytes. The file has no name any more and is gone once it is closed. It is
// for SYS_ADMIN. A tenth of the file system stays free for the server: a copy that
// would take it is refused, one that does is ended, and reading one fails.
//
// Errors: fault.Conflict on PostgreSQL and while another backup is made,
// fault.Unavailable where there is too little space or the folder cannot be written.
func (s *Service) Make(ctx context.Context) (file io.ReadCloser, size int64, err error) {
	if err := identity.Require(ctx, identity.SysAdmin, identity.Resource{}); err != nil {
		return nil, 0, err
	}
	if !s.making.TryLock() {
		return nil, 0, fault.New(fault.Conflict, "Another backup is being made. Try again when it is finished.")
	}
	defer s.making.Unlock()
	size, err = s.db.CopySize(ctx)
	if err != nil {
		return nil, 0, err
	}
	s.size.Store(size)
	name, err := s.copy(ctx, size)
	if err != nil {
		return nil, 0, err
	}
	// Without its name the file is gone once it is closed, also when the process is killed.
	f, err := os.Open(name)
	if err := errors.Join(err, os.Remove(name)); err != nil {
		return nil, 0, fmt.Errorf("opening the backup: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("opening the backup: %w", err), f.Close())
	}
	// From a full disk a backup to another is wanted all the same.
	err = s.db.Write(ctx, func(tx *db.Tx) error { return record(ctx, tx, "create", "backup", nil) })
	if err != nil && s.db.Room() == nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return &download{ReadCloser: f, service: s}, info.Size(), nil
}

// LastMade is when the last backup was made, as the audit trail has it; the zero
// time: there was none.
func (s *Service) LastMade(ctx context.Context) (at time.Time, err error) {
	_, err = s.db.Find(ctx, "reading when the last backup was made", []any{db.At(&at)}, `SELECT at FROM audit_entries
		WHERE area = 'system' AND action = 'create' AND object = 'backup' ORDER BY id DESC LIMIT 1`)
	return at, err
}
