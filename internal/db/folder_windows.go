package db

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// tryLock takes the exclusive lock on f if it is free. It ends with the
// process, however that ends. The byte locked is far behind the file's end, so
// that the process id in it stays readable.
func tryLock(f *os.File) error {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{OffsetHigh: 1})
}

// lockedElsewhere reports whether tryLock failed because another process has the
// lock.
func lockedElsewhere(err error) bool { return errors.Is(err, windows.ERROR_LOCK_VIOLATION) }
