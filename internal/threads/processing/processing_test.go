package processing

import (
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// From two files to restored threads, in the database and in a target.
func TestWholeWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(3000, 7)
		records = append(records, threads.Record{IssueID: 10_000, CommentID: 5, ParentCommentID: 6})
		slow := func(int, int64) error { <-time.After(50 * time.Microsecond); return nil }
		for _, target := range []*memory{nil, newMemory(slow)} {
			r := newRig(t, d, target)
			r.work()
			r.load(records, mappings)
			if m := r.await(threads.PhaseReady); m.Records != 3001 || m.Chunks != 3 {
				t.Error(m.Records, "records in", m.Chunks, "chunks")
			}
			r.operate(threads.OpStart)
			r.await(threads.PhaseCompleted)
			r.check(records, mappings, nil)
			if target != nil {
				if _, atOnce, overlaps := target.counts(); atOnce != r.options.Requests || overlaps > 0 {
					t.Error(atOnce, "requests at once,", overlaps, "of them about the same issue")
				}
			}
			r.operate(threads.OpReset)
			r.end()
		}
	}, schema...)
}
