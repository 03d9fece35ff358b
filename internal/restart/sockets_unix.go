//go:build unix

package restart

import (
	"errors"
	"os"
	"os/signal"
	"time"

	"golang.org/x/sys/unix"
)

// Notify relays the signal that asks for a successor, SIGUSR2.
func Notify(asked chan<- os.Signal) { signal.Notify(asked, unix.SIGUSR2) }

// duplicate is another descriptor of the socket. TCPListener.File would do, but
// passing its file to a process makes the socket a blocking one, here too.
func duplicate(l listener, name string) (*os.File, error) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, failed := -1, error(nil)
	err = raw.Control(func(own uintptr) { fd, failed = unix.FcntlInt(own, unix.F_DUPFD_CLOEXEC, 0) })
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// inherited is a descriptor that was passed. Processes that this one starts do
// not inherit it.
func inherited(descriptor int, name string) *os.File {
	unix.CloseOnExec(descriptor)
	return os.NewFile(uintptr(descriptor), name)
}

// isListening returns what is wrong with a socket that was passed: HTTP is spoken
// over TCP or a Unix socket, SMTP over TCP only.
func isListening(f *os.File, name string) error {
	fd := int(f.Fd())
	listening, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ACCEPTCONN)
	if err != nil {
		return err
	}
	if listening == 0 {
		return errors.New("it does not listen")
	}
	switch address, err := unix.Getsockname(fd); address.(type) {
	case *unix.SockaddrInet4, *unix.SockaddrInet6:
		return err
	case *unix.SockaddrUnix:
		if name == HTTP {
			return err
		}
	}
	return errors.New("it is of another family")
}

// monotonic is the time of the clock by which the service manager orders reloads.
func monotonic() time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}
