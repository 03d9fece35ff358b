package admin

import (
	"context"
	"errors"
	"io"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// Backup writes every parent map as it is now.
func (t *Tool) Backup(ctx context.Context, w io.Writer) error {
	maps, err := t.Store.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer maps.Close(ctx)
	return format.WriteBackup(ctx, w, t.Store.Target(), maps.At, maps)
}

// SentBackup returns the backup that is among the drafts: fault.Conflict where it is not
// there, or has another id than the one that is meant.
func (t *Tool) SentBackup(ctx context.Context, id int64) (threads.Upload, error) {
	u, err := t.Store.Uploads.Draft(ctx, threads.BackupFile)
	if fault.Is(err, fault.NotFound) || err == nil && !u.Complete() {
		return u, fault.New(fault.Conflict, "There is no backup yet. Send it as the body, or first as an upload of the kind backup.")
	}
	if err == nil && u.ID != id {
		err = fault.New(fault.Conflict, "A different backup is here (%s). Check it, then restore it with upload=%d.", u.Draft(), u.ID)
	}
	return u, err
}

// RestoreBody has a backup restored that comes at once, of length bytes, -1 where that
// is not known. Where it is refused, nothing of it stays.
func (t *Tool) RestoreBody(ctx context.Context, mode threads.RestoreMode, length int64, body io.Reader) error {
	file, err := t.Take(ctx, threads.Upload{Kind: threads.BackupFile, Length: length}, body, false)
	if err != nil {
		return err
	}
	if err := t.Restore(ctx, mode, file); err != nil {
		return errors.Join(err, t.forget(ctx, file.ID))
	}
	return nil
}

// Restore has a backup written to the target once it is checked as a whole. A
// file that is none is deleted.
func (t *Tool) Restore(ctx context.Context, mode threads.RestoreMode, file threads.Upload) error {
	backup, err := format.CheckBackup(t.Store.Uploads.Reader(ctx, file))
	if fault.Is(err, fault.Invalid) {
		return errors.Join(err, t.forget(ctx, file.ID))
	}
	if err != nil {
		return err
	}
	return t.Store.BeginRestore(ctx, threads.RestoreJob{Mode: mode, Upload: file.ID, Issues: backup.Trailer.Issues})
}

// Restoration returns the last one; nil when there was none.
func (t *Tool) Restoration(ctx context.Context) (*threads.Restoration, error) {
	j, err := t.Store.Job(ctx, threads.JobRestore)
	if err != nil || j.State == "" {
		return nil, err
	}
	var d threads.RestoreJob
	if err := j.Read(&d); err != nil {
		return nil, err
	}
	out := &threads.Restoration{
		State: j.State, Mode: d.Mode, Upload: d.Upload, Issues: d.Issues, Done: d.Done, Refused: d.Refused, UpdatedAt: j.UpdatedAt,
		Message: j.Message,
	}
	if j.State == threads.JobRunning && d.Pace.WaitUntil.After(t.Clock()) {
		out.WaitUntil = d.Pace.WaitUntil
	}
	return out, nil
}
