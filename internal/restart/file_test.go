//go:build unix

package restart

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func listenAt(t *testing.T, s *Sockets, path string) net.Listener {
	t.Helper()
	l, err := s.Listen(t.Context(), HTTP, "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

func dials(path string) bool {
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
	}
	return err == nil
}

// Every user may connect, and the file goes with the listener.
func TestUnixSocket(t *testing.T) {
	for _, s := range []*Sockets{nil, NewSockets()} {
		path := filepath.Join(t.TempDir(), "http.sock")
		for range 2 {
			l := listenAt(t, s, path)
			info, err := os.Stat(path)
			if err != nil || info.Mode() != fs.ModeSocket|socketMode {
				t.Errorf("the socket has the mode %v, %v", info.Mode(), err)
			}
			if !dials(path) {
				t.Error("nothing listens")
			}
			if l.Close(); dials(path) {
				t.Error("it listens after its end")
			}
			if _, err := os.Lstat(path); err == nil {
				t.Error("the socket is left")
			}
		}
	}
}

// A process that was killed leaves its socket, and the next one takes the path.
func TestUnixSocketThatWasLeft(t *testing.T) {
	path := filepath.Join(t.TempDir(), "http.sock")
	left, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	left.Close()
	listenAt(t, nil, path)
	if !dials(path) {
		t.Error("nothing listens")
	}
}

// What is there and in use stays.
func TestUnixSocketThatIsTaken(t *testing.T) {
	dir := t.TempDir()
	used, file := filepath.Join(dir, "used.sock"), filepath.Join(dir, "file")
	listenAt(t, nil, used)
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		used: "Another process listens on", file: "exists and is not a socket", filepath.Join(dir, "none", "x.sock"): "no such file",
	} {
		if _, err := NewSockets().Listen(t.Context(), HTTP, "unix", path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if content, err := os.ReadFile(file); string(content) != "x" {
		t.Errorf("the file has %q, %v", content, err)
	}
	if !dials(used) {
		t.Error("who listened does not any more")
	}
}

// A socket that others go on with stays where it is when the first process closes it.
func TestUnixSocketThatIsKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "http.sock")
	s := NewSockets()
	first := listenAt(t, s, path)
	if err := s.Keep(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	first.Close()
	for range 2 {
		l := listenAt(t, s, path)
		if l.Addr().String() != path || !dials(path) {
			t.Errorf("it listens on %v", l.Addr())
		}
		l.Close()
	}
	if !dials(path) {
		t.Error("connections do not wait")
	}
}

// A Unix socket that is passed is for HTTP, not for mail.
func TestUnixSocketThatIsPassed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "http.sock")
	l := listenAt(t, nil, path)
	f, err := duplicate(l.(listener), "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if said, refused := child(t, []*os.File{f}, "LISTEN_FDS=1", "LISTEN_FDNAMES=http"); refused || !strings.Contains(said, "http "+path) {
		t.Errorf("HTTP: %s", said)
	}
	if said, refused := child(t, []*os.File{f}, "LISTEN_FDS=1", "LISTEN_FDNAMES=smtp"); !refused || !strings.Contains(said, "another family") {
		t.Errorf("SMTP: %s", said)
	}
}
