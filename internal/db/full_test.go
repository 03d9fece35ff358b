package db

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestIsFull(t *testing.T) {
	for _, c := range []struct {
		err  error
		full bool
	}{
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, true},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, true},
		{fmt.Errorf("saving: %w", &pgconn.PgError{Code: "53100"}), true},
		{fmt.Errorf("%w: %w", errFull, errors.New("I/O error")), true},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, false},
		{&pgconn.PgError{Code: "53200"}, false},
		{errClosed, false},
		{nil, false},
	} {
		if got := IsFull(c.err); got != c.full {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}
