// Package backup copies the whole database while the server runs, puts a copy
// in its place while it does not, and holds back all sending after that until
// an administrator confirms it: what waits in a copy may have gone out already.
package backup

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

//go:embed migrations
var migrations embed.FS

// Migrations is what a database knows about having been restored.
var Migrations = db.Migrations{Name: "backup", FS: migrations}

// Service makes backups and knows whether sending is held back.
type Service struct {
	db  *db.DB
	dir string

	making sync.Mutex // one backup at a time: each takes the disk of a whole database

	confirmed chan struct{} // closed once sending may begin
	once      sync.Once
}

// New makes a service on a migrated database whose data folder is dir.
func New(d *db.DB, dir string) *Service {
	return &Service{db: d, dir: dir, confirmed: make(chan struct{})}
}

// draftPattern names the copy while it is read.
const draftPattern = "backup-*.tmp"

// Tidy removes what a process that was killed left of a backup.
func (s *Service) Tidy() error {
	left, err := filepath.Glob(filepath.Join(s.dir, draftPattern))
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return fmt.Errorf("removing an unfinished backup: %w", err)
	}
	return nil
}

// Make copies the database into a file in the data folder and gives it, open at
// its start, with its size in bytes. The file has no name any more and is gone
// once it is closed. It is for SYS_ADMIN.
//
// Errors: fault.Conflict on PostgreSQL and while another backup is made,
// fault.Unavailable where the disk has no room.
func (s *Service) Make(ctx context.Context) (file io.ReadCloser, size int64, err error) {
	if err := identity.Require(ctx, identity.SysAdmin, identity.Resource{}); err != nil {
		return nil, 0, err
	}
	if !s.making.TryLock() {
		return nil, 0, fault.New(fault.Conflict, "Another backup is being made. Try again when it is finished.")
	}
	defer s.making.Unlock()
	name := filepath.Join(s.dir, "backup-"+secret.Random(6)+".tmp")
	if err := s.db.Backup(ctx, name); err != nil {
		if fault.CodeOf(err) == fault.Internal && ctx.Err() == nil {
			err = fault.Wrap(err, fault.Unavailable, "The backup could not be written to the data folder. It needs as much free space as the size of the database.")
		}
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
	if err := s.record(ctx, "create", "backup", nil); err != nil {
		return nil, 0, errors.Join(err, f.Close())
	}
	return f, info.Size(), nil
}
