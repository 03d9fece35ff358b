package vfs

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite "modernc.org/sqlite/lib"
)

// chunk is how many bytes are written at once: many pages, and less than the
// 128 KiB that SQLite's default VFS takes.
const chunk = 96 << 10

// log is an open write-ahead log. It lies in SQLite's memory, behind the default
// VFS's part of the file, so it has no pointers of Go's. SQLite uses it from one
// goroutine at a time.
type log struct {
	name     uintptr // SQLite keeps it while the file is open
	memory   uintptr // for a chunk; 0 before the first write
	gathered int     // bytes in it that are not written yet
	begin    int64   // where in the file they belong
	synced   bool    // by the default VFS, which once syncs the folder of a new file too
	content  content
}

// logOf is the log of a file that openLog was given.
func logOf(file uintptr) *log { return at[log](file + fileSpace()) }

// fileSpace is how many bytes a file of the default VFS takes.
func fileSpace() uintptr { return (uintptr(base.FszOsFile) + 7) &^ 7 }

var (
	// logMethods are the default VFS's with those below, in SQLite's memory, for
	// ever. They are made when the first log is opened.
	logMethods uintptr
	// theirs are the default VFS's. Those of two logs are the same.
	theirs sqlite.Tsqlite3_io_methods
	once   sync.Once
)

// openLog gives a file that the default VFS opened other methods.
func openLog(tls *libc.TLS, name, file uintptr) {
	f := at[sqlite.Tsqlite3_file](file)
	once.Do(func() {
		theirs = *at[sqlite.Tsqlite3_io_methods](f.FpMethods)
		if logMethods = sqlite.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(theirs))); logMethods == 0 {
			return
		}
		m := at[sqlite.Tsqlite3_io_methods](logMethods)
		*m = theirs
		m.FxClose, m.FxRead, m.FxWrite = pointer(closeLog), pointer(read), pointer(write)
		m.FxTruncate, m.FxSync, m.FxFileSize = pointer(truncate), pointer(syncLog), pointer(fileSize)
	})
	if logMethods != 0 {
		*logOf(file) = log{name: name}
		f.FpMethods = logMethods
	}
}

// flush writes what is gathered. What cannot be written is given up, like a
// single write that failed: the transaction fails, and the next one begins where
// it began.
func (l *log) flush(tls *libc.TLS, file uintptr) int32 {
	if l.gathered == 0 {
		return sqlite.SQLITE_OK
	}
	n := l.gathered
	l.gathered = 0
	return writeNow(tls, file, l.memory, int32(n), l.begin)
}

func writeNow(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](theirs.FxWrite)(tls, file, from, n, offset)
}

func write(tls *libc.TLS, file, from uintptr, n int32, offset int64) int32 {
	l := logOf(file)
	if offset != l.begin+int64(l.gathered) || l.gathered+int(n) > chunk {
		if rc := l.flush(tls, file); rc != sqlite.SQLITE_OK {
			return rc
		}
		l.begin = offset
	}
	if l.memory == 0 {
		l.memory = sqlite.Xsqlite3_malloc(tls, chunk)
	}
	if l.memory == 0 || n > chunk {
		return writeNow(tls, file, from, n, offset)
	}
	copy(unsafe.Slice(at[byte](l.memory), chunk)[l.gathered:], unsafe.Slice(at[byte](from), n))
	l.gathered += int(n)
	return sqlite.SQLITE_OK
}

func syncLog(tls *libc.TLS, file uintptr, flags int32) int32 {
	l := logOf(file)
	if rc := l.flush(tls, file); rc != sqlite.SQLITE_OK {
		return rc
	}
	if l.synced {
		// One that failed is not tried again: the system may say once only that
		// something was not written.
		if tried, err := l.content.sync(l.name); err != nil {
			return sqlite.SQLITE_IOERR_FSYNC
		} else if tried {
			return sqlite.SQLITE_OK
		}
	}
	rc := function[func(*libc.TLS, uintptr, int32) int32](theirs.FxSync)(tls, file, flags)
	l.synced = rc == sqlite.SQLITE_OK
	return rc
}

func read(tls *libc.TLS, file, to uintptr, n int32, offset int64) int32 {
	if rc := logOf(file).flush(tls, file); rc != sqlite.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr, int32, int64) int32](theirs.FxRead)(tls, file, to, n, offset)
}

func truncate(tls *libc.TLS, file uintptr, size int64) int32 {
	if rc := logOf(file).flush(tls, file); rc != sqlite.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, int64) int32](theirs.FxTruncate)(tls, file, size)
}

func fileSize(tls *libc.TLS, file, size uintptr) int32 {
	if rc := logOf(file).flush(tls, file); rc != sqlite.SQLITE_OK {
		return rc
	}
	return function[func(*libc.TLS, uintptr, uintptr) int32](theirs.FxFileSize)(tls, file, size)
}

func closeLog(tls *libc.TLS, file uintptr) int32 {
	l := logOf(file)
	written := l.flush(tls, file)
	l.content.close()
	sqlite.Xsqlite3_free(tls, l.memory)
	rc := function[func(*libc.TLS, uintptr) int32](theirs.FxClose)(tls, file)
	if written != sqlite.SQLITE_OK {
		return written
	}
	return rc
}
