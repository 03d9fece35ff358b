package restart

import (
	"errors"
	"os"
	"time"
)

var errUnsupported = errors.New("sockets cannot be passed on Windows")

// Notify does nothing: there is no such signal.
func Notify(chan<- os.Signal) {}

func duplicate(listener, string) (*os.File, error) { return nil, errUnsupported }

func isListening(*os.File, string) error { return errUnsupported }

func inherited(descriptor int, name string) *os.File { return os.NewFile(uintptr(descriptor), name) }

func monotonic() time.Duration { return 0 }
