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

// sync is false where it did not work; what is wrong then shows in SQLite's own
// sync of the file.
func (c *content) sync(name uintptr) bool {
	if !c.open {
		fd, err := unix.Open(libc.GoString(name), unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return false
		}
		c.fd, c.open = fd, true
	}
	return syncContent(c.fd) == nil
}

// syncContent is a variable for tests.
var syncContent = unix.Fdatasync

func (c *content) close() {
	if c.open {
		unix.Close(c.fd)
		c.open = false
	}
}
