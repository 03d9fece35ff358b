package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// saveWhole writes what is read beside file under another name, and has place
// give it its own name when all of it is on disk. It gives the size in bytes.
func saveWhole(file string, from io.Reader, place func(part string) error) (size int64, err error) {
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return 0, err
	}
	size, err = io.Copy(part, from) // an unexpected end where it is cut off
	if err = errors.Join(err, part.Sync(), part.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(part.Name()))
	}
	return size, place(part.Name())
}
