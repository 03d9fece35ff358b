package store

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
)

// Whatever is merged, moved and removed, the blocks count the records between
// their keys, and none grows beyond maxBlock.
func TestBlocksCountTheRecords(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := NewSource(d)
		for round := range 3 {
			rnd := rand.New(rand.NewPCG(uint64(round), 1))
			records := make([]threads.Record, 3000+500*round)
			for i := range records {
				comment := int64(10_000 + 3*i)
				records[i] = threads.Record{IssueID: int64(500 + rnd.IntN(len(records)/20)), CommentID: comment, ParentCommentID: comment - 1}
			}
			rnd.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			for slice := range slices.Chunk(records, SourceSlice) {
				if _, err := s.MergeRecords(t.Context(), slice); err != nil {
					t.Fatal(err)
				}
			}
			checkBlocks(t, d, s)
		}
		leases := db.NewLeases(d, "a", nil)
		if err := leases.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer leases.Stop()
		lease, err := leases.Acquire(t.Context(), "mirror")
		if err != nil || lease == nil {
			t.Fatalf("no lease: %v", err)
		}
		for _, keep := range [][]threads.Record{{{IssueID: 1, CommentID: 10_003, ParentCommentID: 1}}, nil} {
			for after := int64(0); after < math.MaxInt64; {
				reached, _, err := s.Mirror(t.Context(), lease, after, math.MaxInt64, keep, math.MaxInt64)
				if err != nil {
					t.Fatal(err)
				}
				keep = keep[threads.UpToComment(keep, reached):]
				after = reached
				checkBlocks(t, d, s)
			}
		}
	}, schema...)
}

// checkBlocks holds the stored blocks against the records, and against what
// this node remembers.
func checkBlocks(t *testing.T, d *db.DB, s *Source) {
	t.Helper()
	fresh := NewSource(d)
	err := d.Read(t.Context(), func(tx *db.Tx) error {
		st, err := readSourceState(t.Context(), tx, "")
		if err != nil {
			return err
		}
		x, err := fresh.loadIndex(t.Context(), tx, st)
		if err != nil {
			return err
		}
		if remembered := s.index.Load(); remembered.generation != x.generation || !slices.Equal(remembered.blocks, x.blocks) {
			t.Errorf("this node remembers other blocks than are stored")
		}
		for i, b := range x.blocks {
			end := key{math.MaxInt64, math.MaxInt64}
			if i+1 < len(x.blocks) {
				end = x.blocks[i+1].first
			}
			var n int64
			err := tx.QueryRow(t.Context(), `SELECT count(*) FROM threads_source_records
				WHERE (issue_id, comment_id) >= ($1, $2) AND (issue_id, comment_id) < ($3, $4)`,
				b.first.issue, b.first.comment, end.issue, end.comment).Scan(&n)
			if err != nil || n != b.records || n > maxBlock {
				t.Errorf("block %d has %d records, and says %d, %v", i, n, b.records, err)
			}
		}
		if x.total() != st.Records {
			t.Errorf("the blocks have %d records, and the total is %d", x.total(), st.Records)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
