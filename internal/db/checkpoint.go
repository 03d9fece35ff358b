package db

import (
	"context"
	"os"
)

// walLimit is the size of the write-ahead log past which the writer waits for
// readers. Its own checkpoints, at half of that, wait for nobody, and readers
// that overlap would let the log grow without end.
const walLimit = 32 << 20

// trim empties the log when it has grown past its limit. A reader that takes
// too long has it try again when the log has grown as much again.
func (w *writer) trim() {
	info, err := os.Stat(w.log)
	if err != nil || info.Size() < w.trimAt {
		return
	}
	w.trimAt = info.Size() + walLimit
	ctx := context.Background()
	// Writers wait meanwhile, but no longer than readers do.
	if _, err := w.ses.exec(ctx, "PRAGMA busy_timeout = 1000", nil); err != nil {
		return
	}
	var busy, frames, moved int
	err = w.ses.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err == nil && busy == 0 {
		w.trimAt = walLimit
	}
	// What went wrong here shows in the next commit too.
	w.ses.exec(ctx, "PRAGMA busy_timeout = 5000", nil)
}
