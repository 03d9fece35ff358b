package backup

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// lookEvery is how often the space is looked at while a copy is written: a fast
// disk takes 50 MB meanwhile.
const lookEvery = 20 * time.Millisecond

// draft is the copy while it is made. Two servers may share a folder for backups,
// and a start removes only its own.
func (s *Service) draft(random string) string {
	own, err := filepath.Abs(s.dir)
	if err != nil {
		own = s.dir
	}
	return filepath.Join(s.to, fmt.Sprintf("backup-%08x-%s.tmp", crc32.ChecksumIEEE([]byte(own)), random))
}

// Tidy removes what a process that was killed left of a backup.
func (s *Service) Tidy() error {
	left, err := filepath.Glob(s.draft("*") + "*")
	for _, name := range left {
		err = errors.Join(err, os.Remove(name))
	}
	if err != nil {
		return fmt.Errorf("removing an unfinished backup: %w", err)
	}
	return nil
}

// copy makes the copy, which takes at most size bytes, and ends it where the space
// of the server is in danger.
func (s *Service) copy(ctx context.Context, size int64) (name string, err error) {
	if short := s.short(size); short != nil {
		return "", short
	}
	ctx, stop := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.watch(ctx, stop)
	}()
	name = s.draft(secret.Random(6))
	err = s.db.Backup(ctx, name)
	why := context.Cause(ctx)
	stop(nil)
	<-ended
	switch {
	case err == nil || why == nil && fault.CodeOf(err) != fault.Internal:
		return name, err
	case why != nil:
		return "", why
	case db.IsFull(err):
		return "", fault.Wrap(err, fault.Unavailable, "The backup could not be written to %s: the disk or a quota is full. It needs up to %s.",
			s.to, db.MiB(size))
	}
	return "", fault.Wrap(err, fault.Unavailable, "The backup could not be written to the folder %s. Make it writable for the "+
		"server, or set backup_dir to another one.", s.to)
}

// watch calls stop with the reason when too little space is left, until ctx ends.
func (s *Service) watch(ctx context.Context, stop context.CancelCauseFunc) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := s.short(0); err != nil {
			stop(err)
			return
		}
	}
}

// short says that less than the reserve of the server would be left.
func (s *Service) short(size int64) error {
	space, err := db.SpaceOf(s.to)
	if err != nil || size <= space.Spare() {
		return nil // a folder that cannot be used shows when it is written
	}
	return fault.New(fault.Unavailable,
		"There is too little space for a backup in %s: it needs up to %s, and %s are free, of which %s (a tenth of the disk, at most 20 GiB) "+
			"stay free for the server. Free some space, or set backup_dir to a folder on another disk.",
		s.to, db.MiB(max(size, s.size.Load())), db.MiB(space.Free), db.MiB(space.Reserve()))
}

// download is a copy on its way, cut off where the space is needed: it takes its
// own until it is closed.
type download struct {
	io.ReadCloser
	service *Service
	looked  time.Time
}

func (d *download) Read(p []byte) (int, error) {
	if time.Since(d.looked) >= time.Second {
		d.looked = time.Now()
		if err := d.service.short(0); err != nil {
			return 0, err
		}
	}
	return d.ReadCloser.Read(p)
}
