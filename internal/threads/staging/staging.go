// Package staging turns a hierarchy file and an id mappings file into chunks,
// in memory that does not grow with them.
//
// Both files are read once, into sorted runs; then everything is a merge of
// sorted streams:
//
//	comment mappings by cloud id                       → comments that share one
//	records by comment   ⋈ comment mappings            → records by parent
//	records by parent    ⋈ comment mappings ⋈ records  → records by issue
//	records by issue     ⋈ issue mappings              → chunks
//
// A run that does not fit into memory is kept in pages of the database, like
// everything else: a row of a table for each record would take several times
// as long, and so would an index for each join.
package staging

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// Store is where a data set is kept while it is made.
type Store interface {
	// WritePages keeps pages of a run, the first of them with the number first.
	WritePages(ctx context.Context, run, first int64, pages [][]byte) error
	ReadPage(ctx context.Context, run, page int64) ([]byte, error)
	// WriteChunks keeps chunks, in their order.
	WriteChunks(ctx context.Context, chunks []*threads.Chunk) error
	// Progress is told how far it is, now and then.
	Progress(ctx context.Context, step string, done float64) error
}

// File is an input: packed or not, as it came in.
type File struct {
	Content io.Reader
	Size    int64        // of Content
	At      func() int64 // how much of Content was read
}

// Options say how much memory and which files.
type Options struct {
	Store       Store
	Hierarchy   File
	Mappings    File
	MaxUnpacked int64 // bytes of either file
	Rows        int   // in memory at once; 0 is defaultRows
	ChunkSize   int64 // records that make a chunk full; 0 is threads.ChunkSize
}

// defaultRows is how many rows are sorted in memory at once: 24 MiB.
const defaultRows = 1 << 19

// Stage makes a data set of the two files, and says what is in it.
func Stage(ctx context.Context, o Options) (*threads.Preview, error) {
	o.Rows = cmp.Or(o.Rows, defaultRows)
	o.ChunkSize = cmp.Or(o.ChunkSize, threads.ChunkSize)
	s := &stage{Options: o, ctx: ctx, preview: &threads.Preview{Errors: map[threads.Reason]int64{}}}
	for _, pass := range []func() error{s.readHierarchy, s.readMappings, s.sameTargets, s.byComment, s.byParent, s.crossCycles, s.byIssue} {
		if err := pass(); err != nil {
			return nil, err
		}
	}
	s.preview.Judge()
	return s.preview, nil
}

// stage is one run through the passes.
type stage struct {
	Options
	ctx     context.Context
	preview *threads.Preview
	runs    int64    // numbers of runs given out
	spare   []row    // the memory that the sorter at work uses
	told    progress // what Progress was told last

	records  *sorter // comment, place in the file, issue, parent
	comments *sorter // server id, place in the file, cloud id
	same     *sorter // server ids of comments that share their cloud id with another one
	issues   *sorter // server id, place in the file, cloud id
	parents  *sorter // parent, comment, issue, cloud id of comment, flags
	joined   *sorter // issue, comment, parent, cloud ids of comment and parent, flags
	crossing *sorter // issue and id of a parent, comment that answers it from another issue
	entries  *sorter // issue, comment: where a cycle through several issues enters one
}

// Flags of a record on its way.
const (
	commentMapped = 1 << iota
	parentMapped
	parentReplies // the parent is a reply itself: it has a record
	parentAway    // and that record is in another issue
	commentShared // another comment has the same cloud id
)

// readHierarchy is the first pass: the hierarchy file into records by comment.
func (s *stage) readHierarchy() error {
	in, err := format.Open(s.Hierarchy.Content, s.MaxUnpacked)
	if err != nil {
		return err
	}
	s.records = s.newSorter(recordColumns)
	d := format.NewHierarchyDecoder(in)
	for n := int64(0); ; n++ {
		r, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the hierarchy: %w", err)
		}
		if err := s.records.add(recordRow{comment: r.CommentID, number: n, issue: r.IssueID, parent: r.ParentCommentID}.row()); err != nil {
			return err
		}
		if err := s.tell(n, stepHierarchy, part(s.Hierarchy)); err != nil {
			return err
		}
	}
	s.preview.Hierarchy = d.Reading()
	return s.records.finish()
}

// readMappings is the second pass: the id mappings file into mappings by id.
func (s *stage) readMappings() error {
	in, err := format.Open(s.Mappings.Content, s.MaxUnpacked)
	if err != nil {
		return err
	}
	s.comments, s.issues = s.newSorter(mappingColumns), s.smallSorter(mappingColumns)
	d := format.NewMappingDecoder(in)
	for n := int64(0); ; n++ {
		m, err := d.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("reading the id mappings: %w", err)
		}
		switch m.EntityType {
		case threads.EntityComment:
			err = s.comments.add(mappingRow{m.ServerID, n, m.CloudID}.row())
		case threads.EntityIssue:
			err = s.issues.add(mappingRow{m.ServerID, n, m.CloudID}.row())
		}
		if err == nil {
			err = s.tell(n, stepMappings, part(s.Mappings))
		}
		if err != nil {
			return err
		}
	}
	s.preview.Mappings = d.Reading()
	if err := s.issues.finish(); err != nil {
		return err
	}
	return s.comments.finish()
}

func part(f File) float64 {
	if f.Size == 0 {
		return 1
	}
	return float64(f.At()) / float64(f.Size)
}
