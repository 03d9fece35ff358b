package db_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/powercut"
)

// A sync that fails, of the log in a commit or of the database file in a
// checkpoint, is the end: the database says so, nothing more is acknowledged, and
// after a power cut and the next start everything that was is there.
func TestAFailedSyncIsFinal(t *testing.T) {
	for name, file := range map[string]string{"log": "outrigger.db-wal", "database": "outrigger.db"} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(3) {
				failedSync(t, file, seed)
			}
		})
	}
}

func failedSync(t *testing.T, file string, seed uint64) {
	disk := powercut.New(seed)
	var acknowledged []string
	ended := ""
	program(t, disk, "write", func(line string) {
		switch word, rest, _ := strings.Cut(line, " "); word {
		case "ready":
			disk.FailSync(file)
		case "acknowledged":
			acknowledged = append(acknowledged, rest)
		default:
			ended += line + "\n"
		}
	})
	if disk.Failed() != 1 || !strings.HasPrefix(ended, "refused") || !strings.HasSuffix(ended, "\nfailed\n") {
		t.Fatalf("%d syncs failed after %d writes, and the program ended with %s", disk.Failed(), len(acknowledged), ended)
	}
	disk.Cut()
	var got []string
	program(t, disk, "read", func(line string) { got = append(got, line) })
	for i, name := range acknowledged {
		if i >= len(got) || got[i] != name {
			t.Fatalf("of %d writes that were acknowledged %d are there: %.300s", len(acknowledged), i, strings.Join(got, " "))
		}
	}
}

// program runs programMain in a process of its own on the disk, and gives line
// all that it prints. It ends as a process does, without closing anything.
func program(t *testing.T, disk *powercut.Disk, what string, line func(string)) {
	t.Helper()
	folder := t.TempDir()
	unmount, err := disk.Mount(folder)
	must(t, err)
	defer func() { must(t, unmount()) }()
	cmd := exec.CommandContext(t.Context(), os.Args[0], what, folder)
	cmd.Env = append(os.Environ(), programEnv+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line(lines.Text())
	}
	must(t, cmd.Wait())
}

// programEnv has the test's binary run programMain in place of the tests.
const programEnv = "TEST_PROGRAM"

func programMain(what, folder string) {
	if statement, ok := strings.CutPrefix(what, "migrate "); ok {
		n, _ := strconv.Atoi(statement)
		migrateUntil(n, folder)
		return
	}
	d, err := db.Open(context.Background(), db.Options{Dir: folder})
	if err == nil {
		err = d.Migrate(context.Background(), things)
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	switch what {
	case "read":
		printThings(d)
	case "fill":
		fillDisk(folder, d)
	default:
		writeThings(d)
	}
}

// writeThings writes until it is refused.
func writeThings(d *db.DB) {
	ctx := context.Background()
	_ = d.BoundLog(ctx, 800<<10)
	fmt.Println("ready")
	for i := range 5000 {
		name := fmt.Sprintf("t%04d", i)
		err := d.Write(ctx, func(tx *db.Tx) error {
			_, err := tx.Exec(ctx, `INSERT INTO things (name, body) VALUES ($1, randomblob(10000))`, name)
			return err
		})
		if err != nil {
			fmt.Println("refused", fault.CodeOf(err), err)
			break
		}
		fmt.Println("acknowledged", name)
	}
	select {
	case err := <-d.Failed():
		if err := d.Close(); err != nil {
			fmt.Println("closing:", err)
		}
		if errors.Is(err, db.ErrDisk) && errors.Is(d.Ping(ctx), db.ErrDisk) {
			fmt.Println("failed")
		}
	default:
	}
}

func printThings(d *db.DB) {
	ctx := context.Background()
	err := d.Read(ctx, func(tx *db.Tx) error {
		rows, err := tx.Query(ctx, `SELECT name FROM things ORDER BY id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			fmt.Println(name)
		}
		return rows.Err()
	})
	if err != nil {
		fmt.Println(err)
	}
}
