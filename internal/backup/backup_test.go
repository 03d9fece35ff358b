package backup_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/backup"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// server is a database of some MiB in a folder, and its backups in another.
func server(t *testing.T, dir, to string, mib int) (*backup.Service, *db.DB, context.Context) {
	t.Helper()
	d := dbtest.Open(t, db.Options{Dir: dir})
	if err := d.Migrate(t.Context(), audit.Migrations, backup.Migrations); err != nil {
		t.Fatal(err)
	}
	for range mib {
		if err := accept(t.Context(), d, 1<<20); err != nil {
			t.Fatal(err)
		}
	}
	admin := &identity.Principal{Name: "admin", Source: identity.Local, Scope: identity.All, Grants: []identity.Grant{{Permission: identity.SysAdmin}}}
	return backup.New(d, dir, to, nil), d, identity.With(t.Context(), admin)
}

// accept writes as what comes in does.
func accept(ctx context.Context, d *db.DB, bytes int) error {
	return d.Write(ctx, func(tx *db.Tx) error {
		return audit.Record(ctx, tx, audit.Entry{After: map[string]string{"body": strings.Repeat("x", bytes)}})
	})
}

func left(t *testing.T, folders ...string) {
	t.Helper()
	for _, folder := range folders {
		if found, err := filepath.Glob(filepath.Join(folder, "*.tmp*")); err != nil || found != nil {
			t.Errorf("left lying: %v, %v", found, err)
		}
	}
}

// A backup that would take the last tenth of the disk is refused with what it needs
// and what is free, leaves nothing, and the server accepts on; with a folder on
// another disk it is made.
func TestABackupLooksAtTheSpace(t *testing.T) {
	disk, other := dbtest.NewDisk(t, 64), t.TempDir()
	s, d, ctx := server(t, disk.Dir, "", 8)
	disk.Fill(t, 12<<20) // a copy would fit, and leave 4 of 6 MiB
	for range 3 {
		_, _, err := s.Make(ctx)
		if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "it needs up to ") || !strings.Contains(err.Error(), "set backup_dir") {
			t.Errorf("on a disk with too little space: %v", err)
		}
		if err := accept(t.Context(), d, 1000); err != nil {
			t.Errorf("the server refuses: %v", err)
		}
	}
	left(t, disk.Dir)
	file, size, err := backup.New(d, disk.Dir, other, nil).Make(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.Copy(io.Discard, file); err != nil || n != size || n < 8<<20 {
		t.Errorf("%d of %d bytes, %v", n, size, err)
	}
	if err := file.Close(); err != nil {
		t.Error(err)
	}
	left(t, disk.Dir, other)
}

// A backup ends itself where another program takes the space meanwhile, also while
// it is downloaded; what comes in is accepted all the time.
func TestABackupEndsItself(t *testing.T) {
	disk := dbtest.NewDisk(t, 128)
	s, d, ctx := server(t, disk.Dir, "", 16)
	file, _, err := s.Make(ctx)
	if err != nil {
		t.Fatal(err)
	}
	empty := disk.Fill(t, 8<<20) // of 128
	if _, err := io.Copy(io.Discard, file); !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "too little space") {
		t.Errorf("a download that needs the space of the server: %v", err)
	}
	_ = file.Close()
	empty()
	stop, accepting := make(chan struct{}), sync.WaitGroup{}
	accepting.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
			if err := accept(t.Context(), d, 1000); err != nil {
				t.Errorf("the server refuses: %v", err)
				return
			}
		}
	})
	made := make(chan error)
	go func() {
		var err error
		for err == nil { // until the other is faster
			var file io.ReadCloser
			if file, _, err = s.Make(ctx); err == nil {
				err = file.Close()
			}
		}
		made <- err
	}()
	disk.Fill(t, 10<<20)
	if err := <-made; !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "too little space") {
		t.Errorf("a backup that another program takes the space of: %v", err)
	}
	close(stop)
	accepting.Wait()
	left(t, disk.Dir)
}

// A folder that cannot be written is named, and nothing is left anywhere.
func TestABackupInAFolderThatCannotBeWritten(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	disk.Break(t)
	dir := t.TempDir()
	for name, to := range map[string]string{"missing": filepath.Join(dir, "none"), "read-only": disk.Dir, "a file": filepath.Join(dir, "outrigger.db")} {
		t.Run(name, func(t *testing.T) {
			s, _, ctx := server(t, t.TempDir(), to, 1)
			_, _, err := s.Make(ctx)
			if !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "to the folder "+to) {
				t.Errorf("got %v", err)
			}
		})
	}
	left(t, disk.Dir, dir)
}

// What a killed server left of its backups goes with its next start; what another
// one is writing in the same folder stays.
func TestTidy(t *testing.T) {
	shared, mine := t.TempDir(), t.TempDir()
	s, d, ctx := server(t, mine, shared, 1)
	kill := func(s *backup.Service) {
		t.Helper()
		for i := range 10 {
			name := backup.Draft(s, fmt.Sprint("x", i))
			for _, suffix := range []string{"", "-journal"} {
				if err := os.WriteFile(name+suffix, []byte("half"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	theirs := backup.New(d, t.TempDir(), shared, nil)
	kill(s)
	kill(theirs)
	if err := s.Tidy(); err != nil {
		t.Fatal(err)
	}
	if found, _ := filepath.Glob(filepath.Join(shared, "*.tmp*")); len(found) != 20 {
		t.Errorf("%d files are left, want the other server's 20", len(found))
	}
	if err := errors.Join(theirs.Tidy(), theirs.Tidy()); err != nil {
		t.Fatal(err)
	}
	left(t, shared)
	if _, _, err := s.Make(ctx); err != nil {
		t.Error(err)
	}
}
