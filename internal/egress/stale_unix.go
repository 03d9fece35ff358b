//go:build unix

package egress

import (
	"errors"
	"net"
	"syscall"
)

// staleness gives a function that tells, at once, whether an idle connection
// was closed by the other side or has something to read: bytes that nobody
// asked for would be taken for the next answer.
func staleness(c net.Conn) func() bool {
	raw, err := rawOf(c)
	if err != nil {
		return func() bool { return true }
	}
	return func() bool {
		stale := true
		err := raw.Control(func(fd uintptr) {
			var b [1]byte
			_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
			stale = !errors.Is(err, syscall.EAGAIN)
		})
		return err != nil || stale
	}
}

func rawOf(c net.Conn) (syscall.RawConn, error) {
	s, ok := c.(syscall.Conn)
	if !ok {
		return nil, errors.ErrUnsupported
	}
	return s.SyscallConn()
}
