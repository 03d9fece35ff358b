package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// saveWhole writes what is read beside file under another name, and has place
// give it its own name when all of it is on disk. It gives the size in bytes. What
// the system refuses is said of file, the only name that the user knows.
func saveWhole(file string, from io.Reader, place func(part string) error) (size int64, err error) {
	part, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return 0, notWritten(file, err)
	}
	defer os.Remove(part.Name())    // there is none where place has renamed it
	size, err = io.Copy(part, from) // an unexpected end where it is cut off
	if err = errors.Join(err, part.Sync(), part.Close()); err == nil {
		err = place(part.Name())
	}
	if err != nil {
		return 0, notWritten(file, err)
	}
	return size, nil
}

// notWritten is an error of the system about file, without the name it had meanwhile.
func notWritten(file string, err error) error {
	var path *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &path):
		err = path.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("%s was not written: %w", file, err)
}
