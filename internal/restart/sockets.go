// Package restart lets one process take over from another without a moment in
// which nothing listens: the listening sockets are held by a service manager and
// passed to each process in turn, or passed by a process to its successor. While
// nothing accepts on them, connections wait in the kernel.
package restart

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"outrigger/internal/fault"
)

// The names of sockets, as LISTEN_FDNAMES has them.
const (
	HTTP = "http"
	SMTP = "smtp"
)

// Sockets are the listening sockets of a process, by name. They outlive what
// listens on them where others listen after it. A nil *Sockets opens each anew.
type Sockets struct {
	mu     sync.Mutex
	opened map[string]listener
	kept   map[string]*os.File // those that stay open when what listens closes its own
}

// listener is a *net.TCPListener or a *net.UnixListener.
type listener interface {
	net.Listener
	syscall.Conn
}

// NewSockets has none yet.
func NewSockets() *Sockets {
	return &Sockets{opened: map[string]listener{}, kept: map[string]*os.File{}}
}

// Listen listens on the socket of that name: the one that is kept, else a new
// one at the address, on the network tcp or unix.
func (s *Sockets) Listen(ctx context.Context, name, network, address string) (net.Listener, error) {
	if s == nil {
		return open(ctx, network, address)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var l net.Listener
	var err error
	if f := s.kept[name]; f != nil {
		l, err = net.FileListener(f)
	} else {
		l, err = open(ctx, network, address)
	}
	if err != nil {
		return nil, err
	}
	s.opened[name] = l.(listener)
	return l, nil
}

func open(ctx context.Context, network, address string) (net.Listener, error) {
	if network == "unix" {
		return openFile(ctx, address)
	}
	return new(net.ListenConfig).Listen(ctx, network, address)
}

// Has reports whether a socket of that name is kept.
func (s *Sockets) Has(name string) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.kept[name] != nil
}

// Kept reports whether sockets stay open when what listens on them closes them:
// others will accept what comes from then on.
func (s *Sockets) Kept() bool { return s.Has(HTTP) || s.Has(SMTP) }

// Keep has every socket stay open when what listens on it closes it.
func (s *Sockets) Keep() error {
	_, err := s.keep()
	return err
}

// keep keeps every socket that was opened, and returns those that were not kept
// before.
func (s *Sockets) keep() (added []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, l := range s.opened {
		if s.kept[name] != nil {
			continue
		}
		f, err := duplicate(l, name)
		if err != nil {
			s.close(added)
			return nil, fmt.Errorf("keep the socket %s: %w", name, err)
		}
		if file, ok := l.(*net.UnixListener); ok {
			file.SetUnlinkOnClose(false) // others listen on it afterwards
		}
		s.kept[name] = f
		added = append(added, name)
	}
	return added, nil
}

// release no longer keeps sockets.
func (s *Sockets) release(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(names)
}

func (s *Sockets) close(names []string) {
	for _, name := range names {
		s.kept[name].Close()
		delete(s.kept, name)
	}
}

// Close lets go of all that are kept.
func (s *Sockets) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.close(slices.Collect(maps.Keys(s.kept)))
}

// files are the sockets that are kept, in the order of their names.
func (s *Sockets) files() (names []string, files []*os.File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names = slices.Sorted(maps.Keys(s.kept))
	for _, name := range names {
		files = append(files, s.kept[name])
	}
	return names, files
}

// take keeps the sockets that were passed as descriptors from first on. One of
// which the name says nothing is HTTP.
func (s *Sockets) take(first, count int, names string) error {
	given := strings.Split(names, ":")
	if names == "" {
		given = make([]string, count)
	}
	if len(given) != count {
		return fault.New(fault.Invalid, "LISTEN_FDS says that %d sockets were passed, and LISTEN_FDNAMES has %d names. "+
			"Name each of them, http or smtp.", count, len(given))
	}
	for i, name := range given {
		if count == 1 && name != SMTP {
			name = HTTP // systemd's own name is that of the socket unit
		}
		if err := s.pass(name, first+i); err != nil {
			return err
		}
	}
	return nil
}

// pass keeps one socket that was passed.
func (s *Sockets) pass(name string, descriptor int) error {
	const remedy = "In a systemd socket unit, FileDescriptorName= sets the name; a unit has one name, so that HTTP and SMTP need a unit each."
	if name != HTTP && name != SMTP {
		return fault.New(fault.Invalid, "A socket was passed with the name %q: of several sockets, one is named http and one smtp. %s", name,
			remedy)
	}
	if s.kept[name] != nil {
		return fault.New(fault.Invalid, "Two sockets were passed with the name %s. %s", name, remedy)
	}
	f := inherited(descriptor, name)
	if err := isListening(f, name); err != nil {
		return fault.Wrap(err, fault.Invalid, "The descriptor %d, which was passed as the socket %s, is not a listening socket of its kind",
			descriptor, name)
	}
	s.kept[name] = f
	return nil
}
