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

// Take makes a draft of a file that comes at once: all of it, or nothing. length
// is -1 where it is not known.
func (t *Tool) Take(ctx context.Context, kind, name string, length int64, body io.Reader) (threads.Upload, error) {
	if length < 0 {
		spooled, err := t.Spool(body)
		if err != nil {
			return threads.Upload{}, err
		}
		defer spooled.Remove()
		length, body = spooled.Size, spooled.File
	}
	if length > t.MaxUpload {
		return threads.Upload{}, t.errTooLarge(nil)
	}
	u, err := t.Store.Uploads.Create(ctx, threads.Upload{Kind: kind, Filename: name, Length: length, CreatedBy: identity.From(ctx).Name})
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
