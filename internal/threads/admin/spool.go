package admin

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"outrigger/internal/config"
	"outrigger/internal/fault"
)

// spooled is a file whose length was not known before its end.
type spooled struct {
	file *os.File
	size int64
}

// spool keeps what comes in a folder, until remove.
func spool(dir string, body io.Reader) (*spooled, error) {
	file, err := os.CreateTemp(dir, "upload-")
	if err != nil {
		return nil, fmt.Errorf("make room for a file: %w", err)
	}
	s := &spooled{file: file}
	if s.size, err = io.Copy(file, body); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

func (s *spooled) remove() {
	_ = s.file.Close() // it was only read since
	_ = os.Remove(s.file.Name())
}

// tooLarge says the limit where err is about it.
func tooLarge(err error, limit int64) error {
	if over := (*http.MaxBytesError)(nil); errors.As(err, &over) {
		return errTooLarge(err, limit)
	}
	return err
}

func errTooLarge(cause error, limit int64) error {
	return fault.Wrap(cause, fault.TooLarge, "The file is over the limit of %s (threads.max_upload).", config.Size(limit))
}
