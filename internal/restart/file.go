package restart

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"syscall"

	"outrigger/internal/fault"
)

// socketMode lets every user of the machine connect, as to a port on loopback; who
// may reach the folder decides.
const socketMode = 0o666

// openFile listens on a Unix socket at path. One that a process left there when it
// was killed is replaced.
func openFile(ctx context.Context, path string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "unix", path)
	if errors.Is(err, syscall.EADDRINUSE) {
		if err := removeAbandoned(path); err != nil {
			return nil, err
		}
		l, err = lc.Listen(ctx, "unix", path)
	}
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, socketMode); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// removeAbandoned removes a socket on which nothing listens. Anything else stays.
func removeAbandoned(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fault.New(fault.Conflict, "%s exists and is not a socket. Name another path, or remove it.", path)
	}
	conn, err := net.Dial("unix", path)
	if err == nil {
		conn.Close()
		return fault.New(fault.Conflict, "Another process listens on %s. Stop it, or name another path.", path)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return err
	}
	return os.Remove(path)
}
