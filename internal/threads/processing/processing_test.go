package processing

import (
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// From two files to restored threads, in the database and in a target.
func TestWholeWay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		records, mappings := threadstest.Many(5000, 7)
		records = append(records, threads.Record{IssueID: 10_000, CommentID: 5, ParentCommentID: 6})
		for _, target := range []*memory{nil, newMemory(nil)} {
			r := newRig(t, d, nil)
			get := r.embedded
			if target != nil {
				r = newRig(t, d, target)
				get = target.get
			}
			r.start(t)
			r.load(records, mappings)
			if m := r.await(threads.PhaseReady); m.Records != 5001 || m.Chunks != 5 {
				t.Error(m.Records, "records in", m.Chunks, "chunks")
			}
			r.operate(threads.OpStart)
			r.await(threads.PhaseCompleted)
			r.check(records, mappings, get, nil)
			r.operate(threads.OpReset)
		}
	}, schema...)
}
