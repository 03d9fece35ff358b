package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"

	"outrigger/internal/config"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/threads"
)

// forget deletes a draft that is of no use; who sent it may be gone.
func (t *Tool) forget(ctx context.Context, id int64) error {
	err := t.Store.Uploads.Delete(context.WithoutCancel(ctx), id)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	return err
}

// Take makes a draft of a file that comes at once: all of it, or nothing. file says
// of which kind it is, its name and site, and its length, which is -1 where it is not
// known. replace has it take the place of another one.
func (t *Tool) Take(ctx context.Context, file threads.Upload, body io.Reader, replace bool) (threads.Upload, error) {
	if file.Length < 0 {
		spooled, err := t.Spool(body)
		if err != nil {
			return threads.Upload{}, err
		}
		defer spooled.Remove()
		file.Length, body = spooled.Size, spooled.File
	}
	if file.Length > t.MaxUpload {
		return threads.Upload{}, t.errTooLarge(nil)
	}
	file.CreatedBy = identity.From(ctx).Name
	u, err := Begin(ctx, t.Store.Uploads, file, replace)
	if err != nil {
		return u, err
	}
	begun := u.ID
	u, err = t.Store.Uploads.Append(ctx, begun, 0, body)
	if err == nil && !u.Complete() || fault.Is(err, fault.Invalid) {
		err = ErrBrokeOff(err)
	}
	if err != nil {
		return u, errors.Join(err, t.forget(ctx, begun))
	}
	t.Store.Changed()
	return u, nil
}

// Spooled is a file whose length was not known before its end.
type Spooled struct {
	File *os.File
	Size int64
}

// Spool keeps what comes until Remove.
func (t *Tool) Spool(body io.Reader) (*Spooled, error) {
	file, err := os.CreateTemp(t.Dir, "upload-")
	if err != nil {
		return nil, errNoRoom(err)
	}
	s, in := &Spooled{File: file}, &noting{r: body}
	if s.Size, err = io.Copy(file, in); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err == nil {
		return s, nil
	}
	s.Remove()
	over := (*http.MaxBytesError)(nil)
	switch {
	case errors.As(err, &over):
		return nil, t.errTooLarge(err)
	case in.failed:
		return nil, ErrBrokeOff(err)
	}
	return nil, errNoRoom(err)
}

func (s *Spooled) Remove() {
	_ = s.File.Close() // it was only read since
	_ = os.Remove(s.File.Name())
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

// ErrBrokeOff refuses a file that did not come whole.
func ErrBrokeOff(cause error) error {
	return fault.Wrap(cause, fault.Invalid, "The upload was interrupted; nothing was kept. Send the file again.")
}

func errNoRoom(cause error) error {
	return fault.Wrap(cause, fault.Unavailable, "The file could not be written to the server's data folder. Is its disk full?")
}

func (t *Tool) errTooLarge(cause error) error {
	return fault.Wrap(cause, fault.TooLarge, "The file is over the limit of %s (threads.max_upload).", config.Size(t.MaxUpload))
}
