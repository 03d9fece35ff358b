package db_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
)

// overwrite writes things of 100 KiB over one another, so that the log grows and the
// database does not.
func overwrite(t *testing.T, d *db.DB, n int) {
	t.Helper()
	for i := range n {
		must(t, d.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `INSERT INTO things (id, name, body) VALUES ($1, $2, randomblob(102400)) ON CONFLICT (id) DO UPDATE SET body = excluded.body`,
				i%10+1, fmt.Sprint(i%10))
			return err
		}))
	}
}

// Beside a small database the log is small too.
func TestTheLogIsInProportionToASmallDatabase(t *testing.T) {
	dir := t.TempDir()
	d := dbtest.Open(t, db.Options{Dir: dir})
	must(t, d.Migrate(t.Context(), things))
	overwrite(t, d, 600) // 60 MB
	info, err := os.Stat(filepath.Join(dir, "outrigger.db-wal"))
	must(t, err)
	if size := info.Size() >> 20; size > 32 {
		t.Errorf("beside a database of 1 MB the log has %d MiB", size)
	}
}

// A full disk refuses writes and says how much is to be freed. A process that was
// killed there starts with no more room than there was, with all that was
// acknowledged; and a little room is enough to go on.
func TestAStartOnAFullDisk(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "fill", disk.Dir)
	cmd.Env = append(os.Environ(), programEnv+"=1")
	out, err := cmd.Output() // it kills itself
	acknowledged, refusal := 0, ""
	for line := range strings.Lines(string(out)) {
		if rest, ok := strings.CutPrefix(line, "refused "); ok {
			refusal = rest
		} else {
			acknowledged++
		}
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL || acknowledged < 50 {
		t.Fatalf("%v after %d writes: %s", err, acknowledged, refusal)
	}
	if !strings.Contains(refusal, "is full (") || !strings.Contains(refusal, "Free at least ") {
		t.Errorf("the refusal is %s", refusal)
	}
	disk.Fill(t, 0)
	d := dbtest.Open(t, db.Options{Dir: disk.Dir})
	if got := len(names(t, d)); got < acknowledged {
		t.Errorf("%d of %d writes are there", got, acknowledged)
	}
	must(t, d.Write(t.Context(), func(tx *db.Tx) error { return insert(t.Context(), tx, "small") }))
}

// fillDisk writes on a disk that another program fills, until it is refused, and
// dies.
func fillDisk(dir string, d *db.DB) {
	filler, err := os.Create(filepath.Join(dir, "filler"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := 0; ; i++ {
		if _, err := filler.Write(make([]byte, 600<<10)); err != nil && !errors.Is(err, syscall.ENOSPC) {
			fmt.Println(err)
		}
		if err := add100K(d, i); err != nil {
			fmt.Println("refused", err)
			break
		}
		fmt.Println(i)
	}
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

func add100K(d *db.DB, i int) error {
	ctx := context.Background()
	return d.Write(ctx, func(tx *db.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO things (name, body) VALUES ($1, randomblob(102400))`, fmt.Sprintf("full %06d", i))
		return err
	})
}

// A database on a full disk goes on as soon as there is a little room, and Room says
// whether there is.
func TestAFullDiskIsLeft(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	d := dbtest.Open(t, db.Options{Dir: disk.Dir})
	must(t, d.Migrate(t.Context(), things))
	must(t, d.Room())
	for i := range 3 { // it fills, is left and fills again
		empty := disk.Fill(t, 0)
		n := 0
		var err error
		for ; err == nil && n < 1000; n++ {
			err = add100K(d, 1000*i+n)
		}
		if !fault.Is(err, fault.Unavailable) || !db.IsFull(err) || !strings.Contains(err.Error(), "Free at least ") {
			t.Fatalf("after %d writes on a full disk: %v", n, err)
		}
		select {
		case <-d.Trouble():
		default:
			t.Error("a refused write is no trouble")
		}
		if err := d.Room(); !db.IsFull(err) {
			t.Errorf("a full disk has room: %v", err)
		}
		empty()
		disk.Fill(t, 3<<20) // of 3 MB
		must(t, add100K(d, 1000*i+n))
		must(t, d.Room())
		must(t, os.Remove(filepath.Join(disk.Dir, "filler")))
	}
}

// A start on a disk without any room waits, says how much is missing, and goes on
// when it is there. A command does not wait.
func TestAStartWaitsForRoom(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	dir := filepath.Join(disk.Dir, "data")
	must(t, os.Mkdir(dir, 0o700))
	empty := disk.Fill(t, 0)
	if _, err := db.Open(t.Context(), db.Options{Dir: dir}); !db.IsFull(err) || !strings.Contains(err.Error(), "Free at least ") {
		t.Errorf("a command on a full disk: %v", err)
	}
	told := make(chan error, 1)
	opened := make(chan error)
	go func() {
		d, err := db.Open(t.Context(), db.Options{Dir: dir, Full: func(why error) {
			select {
			case told <- why:
			default:
			}
		}})
		if err == nil {
			err = d.Close()
		}
		opened <- err
	}()
	if why := <-told; !strings.Contains(why.Error(), "is full (0 MiB are free)") {
		t.Errorf("a start on a full disk says %v", why)
	}
	empty()
	select {
	case err := <-opened:
		must(t, err)
	case <-time.After(patience):
		t.Error("it waits with room")
	}
}

// A read-only folder is called that, by a start and by a running server.
func TestAReadOnlyDisk(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	d, err := db.Open(t.Context(), db.Options{Dir: disk.Dir})
	must(t, err)
	must(t, d.Migrate(t.Context(), things))
	must(t, add100K(d, 1))
	disk.Break(t)
	for range 2 {
		wantCode(t, add100K(d, 2), fault.Unavailable, "is read-only")
		wantCode(t, d.Room(), fault.Unavailable, "is read-only")
	}
	if got := names(t, d); len(got) != 1 {
		t.Errorf("it has %v", got)
	}
	_ = d.Close() // its log cannot be moved
	_, err = db.Open(t.Context(), db.Options{Dir: disk.Dir})
	wantCode(t, err, fault.Unavailable, "The data folder "+disk.Dir+" is read-only")
}
