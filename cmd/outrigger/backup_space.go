package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"

	"outrigger/internal/db"
)

// writable fails where file exists or its folder cannot be written, before the
// server makes a backup for it. - is standard output.
func writable(file string) error {
	if file == "-" {
		return nil
	}
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s already exists; choose another file", file)
	}
	probe, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return notWritten(file, err)
	}
	return errors.Join(probe.Close(), os.Remove(probe.Name()))
}

// spared is the body of an answer for a file. It fails before less than db.Space.Reserve
// of the file system is left: a server may have its data there.
func spared(file string, resp *http.Response) (io.Reader, error) {
	s := &spareReader{from: resp.Body, folder: filepath.Dir(file)}
	return s, s.short(max(resp.ContentLength, 0))
}

type spareReader struct {
	from   io.Reader
	folder string
	unseen int64 // bytes since the space was looked at
}

func (s *spareReader) Read(p []byte) (int, error) {
	if s.unseen >= 1<<20 {
		s.unseen = 0
		if err := s.short(0); err != nil {
			return 0, err
		}
	}
	n, err := s.from.Read(p)
	s.unseen += int64(n)
	return n, err
}

func (s *spareReader) short(size int64) error {
	space, err := db.SpaceOf(s.folder)
	if err != nil || size <= space.Spare() {
		return nil // where it cannot be told, the write shows it
	}
	return fmt.Errorf("too little space in %s: the backup needs %s more, and %s are free, of which %s (a tenth of the disk, at most "+
		"20 GiB) stay free; choose a folder on another disk",
		s.folder, db.MiB(size), db.MiB(space.Free), db.MiB(space.Reserve()))
}
