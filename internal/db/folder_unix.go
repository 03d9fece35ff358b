//go:build unix

package db

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock takes the exclusive lock on f if it is free. It ends with the
// process, however that ends.
func tryLock(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}

// lockedElsewhere reports whether tryLock failed because another process has the
// lock: the file system may also have no locks.
func lockedElsewhere(err error) bool { return errors.Is(err, unix.EWOULDBLOCK) }
