package admin

import (
	"errors"
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

// spool keeps what comes until remove.
func (t *Tool) spool(body io.Reader) (*spooled, error) {
	file, err := os.CreateTemp(t.Dir, "upload-")
	if err != nil {
		return nil, errNoRoom(err)
	}
	s, in := &spooled{file: file}, &noting{r: body}
	if s.size, err = io.Copy(file, in); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		return s, nil
	}
	s.remove()
	over := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &over):
		return nil, t.errTooLarge(err)
	case in.failed:
		return nil, errBrokeOff(err)
	}
	return nil, errNoRoom(err)
}

func (s *spooled) remove() {
	_ = s.file.Close() // it was only read since
	_ = os.Remove(s.file.Name())
}

// noting notes whether it was the reader that failed.
type noting struct {
	r      io.Reader
	failed bool
}

func (n *noting) Read(p []byte) (int, error) {
	read, err := n.r.Read(p)
	n.failed = err != nil && !errors.Is(err, io.EOF)
	return read, err
}

func errBrokeOff(cause error) error {
	return fault.Wrap(cause, fault.Invalid, "The file broke off; nothing was kept. Send it again.")
}

func errNoRoom(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, "The server's data folder does not take the file; is its disk full?")
}

func (t *Tool) errTooLarge(cause error) error {
	return fault.Wrap(cause, fault.TooLarge, "The file is over the limit of %s (threads.max_upload).", config.Size(t.MaxUpload))
}
