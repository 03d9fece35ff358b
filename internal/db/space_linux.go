package db

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// SpaceOf is the space of the file system that has a folder.
func SpaceOf(dir string) (s Space, err error) {
	var fs unix.Statfs_t
	for {
		if err = unix.Statfs(dir, &fs); err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return Space{}, &os.PathError{Op: "statfs", Path: dir, Err: err}
	}
	used := fs.Blocks - fs.Bfree
	return Space{Free: int64(fs.Bavail) * fs.Bsize, Total: int64(used+fs.Bavail) * fs.Bsize}, nil
}

// allocate has the file system set aside the blocks of a part of a file, whose
// size stays as it is. It is errors.ErrUnsupported where the file system cannot.
func allocate(f *os.File, from, size int64) error {
	for {
		err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, from, size)
		if err == unix.EINTR {
			continue
		}
		if err == unix.EOPNOTSUPP || err == unix.ENOSYS {
			return errors.ErrUnsupported
		}
		return err
	}
}
