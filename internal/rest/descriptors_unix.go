//go:build unix

package rest

import "syscall"

// descriptors is how many files and connections the process may have open.
// The Go runtime has raised the soft limit to the hard one at the start.
func descriptors() uint64 {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 1024 // what systems have had since there is such a limit
	}
	return uint64(limit.Cur) // signed on some systems
}
