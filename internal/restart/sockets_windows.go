package restart

import (
	"errors"
	"net"
	"os"
	"time"
)

var errUnsupported = errors.New("sockets cannot be passed on Windows")

// Notify does nothing: there is no such signal.
func Notify(chan<- os.Signal) {}

func duplicate(*net.TCPListener, string) (*os.File, error) { return nil, errUnsupported }

func isListening(*os.File) error { return errUnsupported }

func inherited(descriptor int, name string) *os.File { return os.NewFile(uintptr(descriptor), name) }

func monotonic() time.Duration { return 0 }
