//go:build !linux

package db

import (
	"errors"
	"os"
)

// SpaceOf is the space of the file system that has a folder.
func SpaceOf(string) (Space, error) { return Space{}, errors.ErrUnsupported }

// allocate has the file system set aside the blocks of a part of a file, whose
// size stays as it is. It is errors.ErrUnsupported where the file system cannot.
func allocate(*os.File, int64, int64) error { return errors.ErrUnsupported }
