package relay

import (
	"bytes"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// tool finds one of Postfix's test programs.
func tool(t testing.TB, name string) string {
	t.Helper()
	for _, path := range []string{"/usr/sbin/" + name, "/usr/lib/postfix/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	t.Fatalf("%s is not installed: apt-get install postfix, or run make test", name)
	return ""
}

// source sends messages with Postfix's smtp-source and returns when all of them
// were acknowledged.
func source(t testing.TB, addr string, args ...string) {
	t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(tool(t, "smtp-source"), append(args, addr)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("smtp-source: %v\n%s", err, out.String())
	}
}

// sink starts Postfix's smtp-sink and gives its address.
func sink(t testing.TB, args ...string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	addr = l.Addr().String()
	must(t, l.Close())
	cmd := exec.Command(tool(t, "smtp-sink"), append(append([]string{"-u", "nobody", "-4"}, args...), addr, "1000")...)
	must(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	w := &world{t: t}
	w.until("smtp-sink", func() bool {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
	return addr
}

// sessions is how many messages Postfix's client has under way, over sessions
// that are kept: as many as a Postfix takes in at a time by default.
const sessions = "100"

// BenchmarkRelay is messages of 4 KB from Postfix's client through the relay into
// Postfix's sink: accepted, delivered, deleted. Postfix has 20 connections to one
// server by default, the relay 8; make bench has the two in turn.
func BenchmarkRelay(b *testing.B) {
	for name, open := range map[string]func(testing.TB) *db.DB{"sqlite": sqlite, "postgres": postgres} {
		for _, connections := range []int{8, 20} {
			b.Run(fmt.Sprintf("%s/%d_connections", name, connections), func(b *testing.B) {
				addr := sink(b)
				w := newWorld(b, open(b), setup{sender: func(o *SenderOptions) {
					o.Smarthost.Address, o.Connections = addr, connections
				}})
				before := cpu()
				b.ResetTimer()
				pump(b, w.addr)
				w.until("an empty queue", func() bool { s, _ := w.queue.Sizes(b.Context()); return s.Size == 0 })
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "messages/s")
				b.ReportMetric((cpu()-before)/float64(b.N)*1e6, "cpu-µs/message")
			})
		}
	}
}

func postgres(t testing.TB) *db.DB {
	t.Helper()
	d := dbtest.Postgres(t, audit.Migrations, Migrations)
	must(t, d.Migrate(t.Context(), audit.Migrations, Migrations))
	return d
}

// pump sends b.N messages.
func pump(b *testing.B, addr string) {
	b.Helper()
	source(b, addr, "-d", "-s", sessions, "-m", strconv.Itoa(b.N), "-l", "4096", "-f", "a@example.com", "-t", "b@example.com")
}

// cpu is the processor time of this process, in seconds.
func cpu() float64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
