package acceptance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

const (
	restoreChannels = 4
	restoreEvents   = 160
	restoreMails    = 40
)

// waiting is a node on PostgreSQL with 160 chat messages and 40 mails that wait, and
// the outside world that does not take them yet.
type waiting struct {
	*loadtest.Process
	sink *loadtest.Sink
	host *smarthost.Host
}

func newWaiting(t *testing.T) *waiting {
	t.Helper()
	w := &waiting{sink: newSink(t, restoreChannels)}
	var at string
	w.host, at = smarthostAt(t, 10*restoreMails)
	w.close()
	w.Process = node(t, loadtest.Settings{
		DatabaseURL: dbtest.PostgresURL(t), DataDir: filepath.Join(t.TempDir(), "data"), MailListen: freeAddress(t), Smarthost: at,
	})
	start(t, w.Process)
	if err := w.SaveChannelRules(t.Context(), restoreChannels, w.sink.URL()); err != nil {
		t.Fatal(err)
	}
	for i := range restoreEvents {
		if status := send(t, w.Process, signed(loadtest.NewBody(i%restoreChannels).Append(nil, i+1))); status != 202 {
			t.Fatalf("event %d: status %d", i, status)
		}
	}
	source(t, w.Settings.MailListen, restoreMails)
	until(t, patience, "nothing was tried", func() bool { return w.sink.Asked(0) > 0 && w.host.Count() == 0 })
	return w
}

// close and open are the outside world: whether it takes what comes.
func (w *waiting) close() {
	w.host.SetFaultMode(smarthost.Defers)
	for c := range restoreChannels {
		w.sink.Set(c, loadtest.Answer{Status: 503})
	}
}

func (w *waiting) open() {
	w.host.SetFaultMode(smarthost.Accepts)
	for c := range restoreChannels {
		w.sink.Set(c, loadtest.Answer{})
	}
}

// sent is how many chat messages and mails have gone out.
func (w *waiting) sent() (n [2]int) {
	for c := range restoreChannels {
		n[0] += len(w.sink.Arrivals(c))
	}
	n[1] = int(w.host.Count())
	return n
}

// urge has everything tried at once.
func (w *waiting) urge(t *testing.T) {
	t.Helper()
	if err := w.RetryWaiting(t.Context()); err != nil {
		t.Fatal(err)
	}
	order(t, w.Process, "/rest/outrigger/1.0/mail/flush", `{}`)
}

// goesOut waits until so many times all of it has gone out.
func (w *waiting) goesOut(t *testing.T, times int) {
	t.Helper()
	w.urge(t)
	until(t, patience, "not everything went out", func() bool { return w.sent() == [2]int{times * restoreEvents, times * restoreMails} })
}

// cli runs the program against the node and gives what it printed.
func (w *waiting) cli(t *testing.T, args ...string) string {
	t.Helper()
	password := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(password, []byte(loadtest.AdminPassword), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), binary, append(args, "--server", "http://"+w.Addr(), "--user", "admin", "--password-file", password)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("outrigger %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

func (w *waiting) held(t *testing.T) bool {
	t.Helper()
	var state struct{ Held bool }
	ask(t, w.Process, "/rest/outrigger/1.0/backup/confirm", &state)
	return state.Held
}

// staysHeld holds that nothing goes out, though it is asked for, until it is
// confirmed, and that then all of it does.
func (w *waiting) staysHeld(t *testing.T) {
	t.Helper()
	before := w.sent()
	if !w.held(t) {
		t.Error("nothing is held back")
	}
	w.urge(t)
	pass(t, 8*time.Second) // longer than a heartbeat and a look for what is due
	if now := w.sent(); now != before {
		t.Fatalf("before the confirmation %v went out, and now %v", before, now)
	}
	said := w.cli(t, "backup", "confirm", "--yes")
	if !strings.Contains(said, "Waiting to be sent: 160 chat messages on 4 channels and 40 emails.") {
		t.Errorf("the confirmation says: %s", said)
	}
	w.urge(t)
	until(t, patience, "not everything went out", func() bool {
		return w.sent() == [2]int{before[0] + restoreEvents, before[1] + restoreMails}
	})
}

func tool(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// dumped dumps what waits, and has all of it go out.
func dumped(t *testing.T) (w *waiting, file string) {
	t.Helper()
	w = newWaiting(t)
	file = filepath.Join(t.TempDir(), "dump")
	tool(t, "pg_dump", "-Fc", "-f", file, w.Settings.DatabaseURL)
	w.open()
	w.goesOut(t, 1)
	return w, file
}

func stop(t *testing.T, p *loadtest.Process) {
	t.Helper()
	if _, err := p.Stop(); err != nil {
		t.Fatal(err)
	}
}

// TestPostgresRestores has 160 chat messages and 40 mails go out after a dump, and
// restores it: none of them goes out again before an administrator confirms it.
func TestPostgresRestores(t *testing.T) {
	t.Parallel()
	t.Run("into a new database", func(t *testing.T) {
		t.Parallel()
		w, file := dumped(t)
		stop(t, w.Process)
		s := w.Settings
		s.DatabaseURL = dbtest.PostgresURL(t)
		tool(t, "pg_restore", "--no-owner", "-d", s.DatabaseURL, file)
		w.Process = node(t, s)
		start(t, w.Process)
		w.staysHeld(t)
		stop(t, w.Process)
		start(t, w.Process)
		if w.held(t) {
			t.Error("the next start holds again")
		}
	})
	t.Run("over the old one", func(t *testing.T) {
		t.Parallel()
		w, file := dumped(t)
		stop(t, w.Process)
		tool(t, "pg_restore", "--clean", "--if-exists", "--no-owner", "-d", w.Settings.DatabaseURL, file)
		start(t, w.Process)
		w.staysHeld(t)
	})
	t.Run("after a kill", func(t *testing.T) {
		t.Parallel()
		w, file := dumped(t)
		pass(t, 12*time.Second) // two heartbeats
		w.Kill()
		tool(t, "pg_restore", "--clean", "--if-exists", "--no-owner", "-d", w.Settings.DatabaseURL, file)
		start(t, w.Process)
		w.staysHeld(t)
	})
	t.Run("under a running server", func(t *testing.T) {
		t.Parallel()
		w, file := dumped(t)
		w.close() // what a server that runs sends within the seconds to its next heartbeat
		pass(t, 12*time.Second)
		tool(t, "pg_restore", "--clean", "--if-exists", "--no-owner", "--single-transaction", "-d", w.Settings.DatabaseURL, file)
		until(t, patience, "the restore was not noticed", func() bool { return strings.Contains(w.Log(), "starting again") })
		ready(t, w.Process)
		w.open()
		w.staysHeld(t)
	})
	t.Run("without a note", func(t *testing.T) {
		t.Parallel()
		w, file := dumped(t)
		stop(t, w.Process)
		tool(t, "pg_restore", "--clean", "--if-exists", "--no-owner", "-d", w.Settings.DatabaseURL, file)
		if err := os.Remove(filepath.Join(w.Settings.DataDir, "database-seen.json")); err != nil {
			t.Fatal(err)
		}
		tool(t, binary, "restore", "--mark", "--config", filepath.Join(w.Settings.Dir, "outrigger.yaml"))
		start(t, w.Process)
		w.staysHeld(t)
	})
}

// TestALongStopHoldsNothing stops a server for three days by the database's clock.
func TestALongStopHoldsNothing(t *testing.T) {
	t.Parallel()
	w := newWaiting(t)
	stop(t, w.Process)
	threeDaysAgo(t, w.Settings.DatabaseURL)
	w.open()
	start(t, w.Process)
	if w.held(t) {
		t.Error("it is held back")
	}
	w.goesOut(t, 1)
}

// threeDaysAgo moves every time in a database back by three days, as if its clock had
// gone on by them.
func threeDaysAgo(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `DO $$ DECLARE c record; BEGIN
		FOR c IN SELECT table_name, column_name FROM information_schema.columns
			WHERE table_schema = 'public' AND data_type = 'bigint' AND column_name ~ '_(at|until)$' LOOP
			EXECUTE format('UPDATE %I SET %I = %I - 259200000000 WHERE %I > 259200000000', c.table_name, c.column_name, c.column_name, c.column_name);
		END LOOP; END $$`); err != nil {
		t.Fatal(err)
	}
}

func ready(t *testing.T, p *loadtest.Process) {
	t.Helper()
	until(t, startTime, "the server is not ready", func() bool { return p.Ready(t.Context()) == nil })
}
