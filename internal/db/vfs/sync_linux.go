package vfs

import (
	"golang.org/x/sys/unix"
	"modernc.org/libc"
)

// content syncs what a file holds, and of what is known of the file only what
// it takes to read that: fdatasync(2). It has the file open once more, since
// where SQLite keeps the number of its own is SQLite's business.
type content struct {
	fd   int
	open bool
}

// sync says whether it could be tried, and what came of it.
func (c *content) sync(name uintptr) (tried bool, err error) {
	if !c.open {
		fd, err := unix.Open(libc.GoString(name), unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return false, nil
		}
		c.fd, c.open = fd, true
	}
	return true, syncContent(c.fd)
}

// syncContent is a variable for tests.
var syncContent = unix.Fdatasync

func (c *content) close() {
	if c.open {
		unix.Close(c.fd)
		c.open = false
	}
}
