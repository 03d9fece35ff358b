//go:build unix

package restart

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// asChild has the test binary be a process that sockets are passed to: it
// answers with what it received.
const asChild = "RESTART_TEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(asChild) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	given, err := Receive()
	if err != nil {
		fmt.Print("refused: ", err)
		return
	}
	for _, name := range []string{HTTP, SMTP} {
		if given.Sockets.Has(name) {
			l, err := given.Sockets.Listen(context.Background(), name, "tcp", "")
			fmt.Print(name, " ", l.Addr(), " ", err, "\n")
		}
	}
	inherited, err := exec.Command("sh", "-c", `ls -l /proc/self/fd | grep -c socket: ; env | grep -E "^(LISTEN_|NOTIFY_|WATCHDOG_|OUTRIGGER_)"`).Output()
	fmt.Printf("%s %v", inherited, err)
}

func listen(t *testing.T) (*net.TCPListener, *os.File) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	f, err := duplicate(l.(*net.TCPListener), "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return l.(*net.TCPListener), f
}

// child passes descriptors as a service manager does, and returns what the
// process says.
func child(t *testing.T, files []*os.File, env ...string) (said string, refused bool) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `LISTEN_PID=${PID:-$$} exec "$0"`, os.Args[0])
	cmd.ExtraFiles = files
	cmd.Env = append(append(os.Environ(), asChild+"=yes"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	return strings.CutPrefix(string(out), "refused: ")
}

func TestSocketsThatAreReceived(t *testing.T) {
	one, first := listen(t)
	two, second := listen(t)
	for _, c := range []struct {
		name string
		env  []string
		want []string
	}{
		{"both by name", []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=smtp:http"}, []string{"http " + two.Addr().String(), "smtp " + one.Addr().String()}},
		{"systemd's own name", []string{"LISTEN_FDS=1", "LISTEN_FDNAMES=outrigger.socket"}, []string{"http " + one.Addr().String()}},
		{"no name", []string{"LISTEN_FDS=1"}, []string{"http " + one.Addr().String()}},
		{"one for mail", []string{"LISTEN_FDS=1", "LISTEN_FDNAMES=smtp"}, []string{"smtp " + one.Addr().String()}},
		{"for another process", []string{"LISTEN_FDS=2", "PID=1"}, nil},
		{"none", []string{"LISTEN_FDS=0"}, nil},
	} {
		sockets := fmt.Sprintln(2 - len(c.want)) // what was not received is not this process's to close
		said, refused := child(t, []*os.File{first, second}, append(c.env, "NOTIFY_SOCKET=/run/x", "WATCHDOG_USEC=1000")...)
		var want strings.Builder
		for _, line := range c.want {
			want.WriteString(line + " <nil>\n")
		}
		if refused || !strings.HasPrefix(said, want.String()) {
			t.Errorf("%s: %q", c.name, said)
		}
		if rest := strings.TrimPrefix(said, want.String()); strings.Contains(rest, "=") || !strings.HasPrefix(rest, sockets) {
			t.Errorf("%s: a child inherits %q", c.name, rest)
		}
	}
}

func TestSocketsThatAreRefused(t *testing.T) {
	_, first := listen(t)
	_, second := listen(t)
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	here, err := net.Dial("tcp", func() string { l, _ := listen(t); return l.Addr().String() }())
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	connected, err := here.(*net.TCPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer connected.Close()
	local, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	family, err := local.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer family.Close()
	for _, c := range []struct {
		name  string
		files []*os.File
		env   []string
		want  string
	}{
		{"a file", []*os.File{file}, []string{"LISTEN_FDS=1"}, "The descriptor 3, which was passed as the socket http, is not a listening socket of its kind: socket operation on non-socket"},
		{"a connection", []*os.File{connected}, []string{"LISTEN_FDS=1"}, "is not a listening socket of its kind: it does not listen"},
		{"another family for mail", []*os.File{family}, []string{"LISTEN_FDS=1", "LISTEN_FDNAMES=smtp"}, "is not a listening socket of its kind: it is of another family"},
		{"nothing", nil, []string{"LISTEN_FDS=1"}, "The descriptor 3, which was passed as the socket http, is not a listening socket of its kind"},
		{"two of one name", []*os.File{first, second}, []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=http:http"}, "Two sockets were passed with the name http. In a systemd socket unit, FileDescriptorName="},
		{"two of systemd's name", []*os.File{first, second}, []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=outrigger.socket:outrigger.socket"}, `A socket was passed with the name "outrigger.socket": of several sockets, one is named http and one smtp.`},
		{"two without names", []*os.File{first, second}, []string{"LISTEN_FDS=2"}, `A socket was passed with the name ""`},
		{"a name too few", []*os.File{first, second}, []string{"LISTEN_FDS=2", "LISTEN_FDNAMES=http"}, "LISTEN_FDS says that 2 sockets were passed, and LISTEN_FDNAMES has 1 names."},
		{"no number", []*os.File{first}, []string{"LISTEN_FDS=many"}, `LISTEN_FDS is "many"; it must be the number of sockets that are passed.`},
	} {
		if said, refused := child(t, c.files, c.env...); !refused || !strings.Contains(said, c.want) {
			t.Errorf("%s: %q", c.name, said)
		}
	}
}

// A socket that is kept takes connections while nothing accepts on it, and the
// listener stays one that can be closed.
func TestSocketsThatAreKept(t *testing.T) {
	s := NewSockets()
	defer s.Close()
	var address string
	for range 3 {
		l, err := s.Listen(t.Context(), HTTP, "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if address == "" {
			address = l.Addr().String()
		}
		if _, err := s.keep(); err != nil {
			t.Fatal(err)
		}
		names, files := s.files()
		if err := exec.Command("true").Run(); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("true") // passing it must not make it block
		cmd.ExtraFiles = files
		if err := cmd.Run(); err != nil || len(names) != 1 {
			t.Fatal(err, names)
		}
		accepted := make(chan error, 1)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					accepted <- err
					return
				}
				c.Close()
			}
		}()
		c, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, c)
		c.Close()
		l.Close()
		if err := <-accepted; !errors.Is(err, net.ErrClosed) {
			t.Errorf("accepting ended with %v", err)
		}
		waiting, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatalf("nothing listens: %v", err)
		}
		waiting.Close()
	}
}

// What the service manager hears, on a path and in the abstract namespace.
func TestManager(t *testing.T) {
	for _, address := range []string{filepath.Join(t.TempDir(), "notify"), "@outrigger-test-" + filepath.Base(t.TempDir()) + fmt.Sprint(os.Getpid())} {
		conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: address, Net: "unixgram"})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		t.Setenv("NOTIFY_SOCKET", address)
		t.Setenv("WATCHDOG_USEC", "2000000")
		m := newManager()
		if os.Getenv("NOTIFY_SOCKET") != "" || os.Getenv("WATCHDOG_USEC") != "" {
			t.Error("children would hear of the service manager")
		}
		if env := strings.Join(m.environment(), " "); env != "NOTIFY_SOCKET="+address+" WATCHDOG_USEC=2000000" {
			t.Errorf("a successor has %q", env)
		}
		hear := func(want string) {
			t.Helper()
			b := make([]byte, 1000)
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			n, err := conn.Read(b)
			if err != nil || !strings.HasPrefix(string(b[:n]), want) {
				t.Errorf("it heard %q, %v; want %q", b[:n], err, want)
			}
		}
		starting, ready := context.WithCancel(t.Context())
		m.Starting(starting)
		hear("STATUS=Starting")
		hear("EXTEND_TIMEOUT_USEC=30000000")
		ready()
		m.Ready("http://x")
		hear("READY=1\nSTATUS=Serving at http://x")
		m.Reloading()
		hear("RELOADING=1\nMONOTONIC_USEC=")
		m.Succeeded(17, "http://x")
		hear("MAINPID=17\nREADY=1\n")
		m.Stopping()
		hear("STOPPING=1\n")
		watched, end := context.WithCancel(t.Context())
		m.Watchdog(watched)
		hear("WATCHDOG=1")
		hear("WATCHDOG=1")
		end()
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	newManager().Ready("http://x") // is no error
}
