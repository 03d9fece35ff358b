// Package vfs is SQLite's own access to files, with a write-ahead log that takes
// fewer system calls and shorter syncs.
//
// SQLite writes each page of a transaction to its log in two pieces, a header of
// 24 bytes and the page, and syncs when all are written. Here the pieces are
// gathered and written in chunks, before the sync and before anything else
// touches the file. The sync is fdatasync where there is one: the driver's build
// of SQLite has only fsync, which writes the time of the last change too (SQLite
// prefers fdatasync itself, see full_fsync in its os_unix.c).
//
// A connection through it must have synchronous=FULL. With less, SQLite lets
// readers look for pages in the log that may still be gathered.
//
// See https://sqlite.org/vfs.html; whatever is not said here, SQLite's default
// VFS does.
package vfs

import (
	"errors"
	"sync"
	"unsafe"

	"modernc.org/libc"
	sqlite "modernc.org/sqlite/lib"
)

// Name is what the vfs parameter of a DSN has.
const Name = "outrigger"

// Register makes Name known to SQLite, once in a process.
var Register = sync.OnceValue(register)

// base is the VFS that does the work.
var base *sqlite.Tsqlite3_vfs

func register() error {
	tls := libc.NewTLS()
	defer tls.Close()
	if rc := sqlite.Xsqlite3_initialize(tls); rc != sqlite.SQLITE_OK {
		return errors.New("vfs: SQLite cannot be initialized")
	}
	found := sqlite.Xsqlite3_vfs_find(tls, 0)
	// SQLite keeps it for ever.
	own := sqlite.Xsqlite3_malloc(tls, int32(unsafe.Sizeof(sqlite.Tsqlite3_vfs{})))
	name, err := libc.CString(Name)
	if found == 0 || own == 0 || err != nil {
		return errors.New("vfs: there is no memory, or no VFS to build on")
	}
	base = at[sqlite.Tsqlite3_vfs](found)
	v := at[sqlite.Tsqlite3_vfs](own)
	*v = *base
	v.FpNext, v.FzName, v.FxOpen = 0, name, pointer(open)
	v.FszOsFile = int32(fileSpace() + unsafe.Sizeof(log{}))
	if rc := sqlite.Xsqlite3_vfs_register(tls, own, 0); rc != sqlite.SQLITE_OK {
		return errors.New("vfs: SQLite does not take it")
	}
	return nil
}

// open is xOpen: the default VFS's, whose file has other methods if it is a log.
func open(tls *libc.TLS, _, name, file uintptr, flags int32, outFlags uintptr) int32 {
	xOpen := function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](base.FxOpen)
	rc := xOpen(tls, address(base), name, file, flags, outFlags)
	if rc == sqlite.SQLITE_OK && flags&sqlite.SQLITE_OPEN_WAL != 0 {
		openLog(tls, name, file)
	}
	return rc
}

// at is the T at an address of SQLite's.
func at[T any](p uintptr) *T { return *(**T)(unsafe.Pointer(&p)) }

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// pointer makes a Go function one that SQLite can call, as its own are: they are
// Go too. Nothing else keeps f, so it is one that is always there.
func pointer(f any) uintptr { return (*[2]uintptr)(unsafe.Pointer(&f))[1] }

// function is the reverse.
func function[F any](p uintptr) F { return *(*F)(unsafe.Pointer(&p)) }
