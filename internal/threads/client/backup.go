package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// Backup writes a backup of every parent map of the cloud side to a file, which
// is there only once all of it has come and its last line's count and checksum
// fit. progress is told how many bytes have come, and may be nil.
func (c *Client) Backup(
	ctx context.Context, path string, progress func(done, size int64),
) (trailer format.BackupTrailer, err error) {
	err = c.file(ctx, "/backup", path, progress, func(part *part) (err error) {
		if trailer, err = CheckBackup(part.File); err != nil {
			return errors.Join(fault.Wrap(err, fault.Invalid, "The server did not send a complete backup. Try again."), os.Remove(part.Name()))
		}
		return nil
	})
	return trailer, err
}

// file fetches what is at a path of the migration's into a file, which is there only
// once all of it has come and check has found no fault with it.
func (c *Client) file(ctx context.Context, from, path string, progress func(done, size int64), check func(*part) error) error {
	part, err := openPart(path)
	if err != nil {
		return err
	}
	defer part.Close()
	if err := c.retry(ctx, func() (bool, error) { return false, c.fetch(ctx, migrationPath+from, part, progress) }); err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	if err := check(part); err != nil {
		return err
	}
	return part.complete()
}

// fetch fetches a file from its beginning: another request may get another
// one, at whose middle the first cannot go on.
func (c *Client) fetch(ctx context.Context, path string, part *part, progress func(done, size int64)) error {
	if err := errors.Join(part.Truncate(0), seekStart(part.File)); err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	r, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return c.send(r, func(resp *http.Response) error {
		_, err := io.Copy(part, &counted{r: resp.Body, size: max(resp.ContentLength, 0), progress: progress})
		return err
	}, http.StatusOK)
}

// Errors writes the permanent errors to a file as CSV, a line each below a
// header, and returns their number. progress is as in Backup.
func (c *Client) Errors(ctx context.Context, path string, progress func(done, size int64)) (lines int64, err error) {
	err = c.file(ctx, "/errors.csv", path, progress, func(part *part) error {
		size, err := part.Seek(0, io.SeekEnd)
		if err != nil {
			return fmt.Errorf("reading the output: %w", err)
		}
		lines, err = countLines(part, size)
		lines--
		return err
	})
	return lines, err
}

// Report writes the report of the migration to a file, as Backup does. format is html
// or csv. Without data it is fault.Conflict.
func (c *Client) Report(ctx context.Context, format, path string) error {
	return c.file(ctx, "/report?format="+url.QueryEscape(format), path, nil, func(*part) error { return nil })
}

func seekStart(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// CheckBackup reads a backup from its beginning to its end: fault.Invalid where
// it is damaged, cut off, or none.
func CheckBackup(file *os.File) (format.BackupTrailer, error) {
	if err := seekStart(file); err != nil {
		return format.BackupTrailer{}, fmt.Errorf("reading the backup: %w", err)
	}
	in, err := format.CheckBackup(file)
	if err != nil {
		return format.BackupTrailer{}, err
	}
	return in.Trailer, nil
}

// Restore sends a backup and waits until it is restored, or has failed. sending
// and restoring are told how far these are, and may be nil. Where there is another
// backup that was sent, it is fault.Conflict, unless replace says that it goes.
func (c *Client) Restore(
	ctx context.Context, file *os.File, mode threads.RestoreMode, replace bool, sending, restoring func(done, total int64),
) (out threads.Restoration, err error) {
	draft, err := c.Upload(ctx, "", threads.BackupFile, file, replace, sending)
	if err != nil {
		return out, err
	}
	if out, err = c.beginRestore(ctx, mode, draft.ID); err != nil {
		return out, err
	}
	for wait := followFirst; out.State == threads.JobRunning; wait = min(2*wait, followEvery) {
		if restoring != nil {
			restoring(out.Done, out.Issues)
		}
		if err := c.pause(ctx, wait); err != nil {
			return out, err
		}
		if out, err = c.restored(ctx); err != nil {
			return out, err
		}
		if out.Upload != draft.ID {
			return out, fault.New(fault.Conflict, "Another backup is being restored now; whether this one came to its end is not known.")
		}
	}
	return out, nil
}

// beginRestore has a backup that was sent restored.
func (c *Client) beginRestore(ctx context.Context, mode threads.RestoreMode, draft int64) (out threads.Restoration, err error) {
	path := migrationPath + "/restore?" + url.Values{"mode": {string(mode)}, "upload": {strconv.FormatInt(draft, 10)}}.Encode()
	unheard, err := c.order(ctx, path, nil, &out)
	if err != nil && unheard {
		now, failed := c.restored(ctx)
		if failed == nil && now.Upload == draft {
			return now, nil
		}
	}
	return out, err
}

// restored is how far the last restore is; the zero Restoration where there
// was none.
func (c *Client) restored(ctx context.Context) (out threads.Restoration, err error) {
	err = c.ask(ctx, http.MethodGet, migrationPath+"/restore", &out)
	if fault.Is(err, fault.NotFound) {
		err = nil
	}
	return out, err
}
