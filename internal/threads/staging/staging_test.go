package staging

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// memory is a Store.
type memory struct {
	pages  map[[2]int64][]byte
	chunks []*threads.Chunk
	told   []float64
	fail   error // of the next write
}

func (m *memory) WritePages(_ context.Context, run, first int64, pages [][]byte) error {
	for i, p := range pages {
		key := [2]int64{run, first + int64(i)}
		if m.pages[key] != nil {
			return fmt.Errorf("page %v is written twice", key)
		}
		m.pages[key] = p
	}
	return m.fail
}

func (m *memory) ReadPage(_ context.Context, run, page int64) ([]byte, error) {
	p := m.pages[[2]int64{run, page}]
	if p == nil {
		return nil, errors.New("there is no such page")
	}
	return p, nil
}

func (m *memory) WriteChunks(_ context.Context, chunks []*threads.Chunk) error {
	for _, c := range chunks {
		// As a table would keep it.
		stored := &threads.Chunk{Number: c.Number, Records: c.Records, Errors: c.Errors}
		if err := stored.Decode(c.Encode()); err != nil {
			return err
		}
		m.chunks = append(m.chunks, stored)
	}
	return m.fail
}

func (m *memory) Progress(_ context.Context, _ string, done float64) error {
	m.told = append(m.told, done)
	return nil
}

func fileOf(content string) File {
	r := strings.NewReader(content)
	return File{Content: r, Size: r.Size(), At: func() int64 { return r.Size() - int64(r.Len()) }}
}

func options(hierarchy, mappings string, rows int) (Options, *memory) {
	m := &memory{pages: map[[2]int64][]byte{}}
	return Options{Store: m, Hierarchy: fileOf(hierarchy), Mappings: fileOf(mappings), MaxUnpacked: 1 << 30, Rows: rows}, m
}

// check holds a data set against the model.
func check(t interface {
	Helper()
	Fatal(...any)
}, model *threadstest.Model, preview *threads.Preview, chunks []*threads.Chunk) {
	t.Helper()
	if diff := cmp.Diff(&model.Preview, preview, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(threads.Preview{}, "Hierarchy", "Mappings", "Incomplete")); diff != "" {
		t.Fatal("the preview: " + diff)
	}
	var records []threads.Record
	reasons := map[threads.Record]threads.Reason{}
	written := map[int64]threads.ParentMap{}
	for n, c := range chunks {
		if c.Number != int64(n) || n+1 < len(chunks) && c.Records < threads.ChunkSize {
			t.Fatal("chunk", n, "has the number", c.Number, "and", c.Records, "records")
		}
		for _, i := range c.Issues {
			var relations []threads.Relation
			for _, e := range i.Entries {
				r := threads.Record{IssueID: i.IssueID, CommentID: e.CommentID, ParentCommentID: e.ParentCommentID}
				records = append(records, r)
				if e.Reason != "" {
					reasons[r] = e.Reason
				} else {
					relations = append(relations, threads.Relation{CommentID: e.CloudCommentID, ParentID: e.CloudParentID})
				}
			}
			if len(relations) > 0 {
				written[i.CloudIssueID] = written[i.CloudIssueID].Merge(threads.NewParentMap(relations))
			}
		}
	}
	if !slices.Equal(model.Records, records) { // cmp takes long over many
		t.Fatal(cmp.Diff(model.Records, records))
	}
	if !maps.Equal(model.Reasons, reasons) {
		t.Fatal(cmp.Diff(model.Reasons, reasons))
	}
	if !maps.EqualFunc(model.Maps, written, slices.Equal) {
		t.Fatal(cmp.Diff(model.Maps, written))
	}
}

// Whatever is in the files, and however little memory there is, the data set is
// what the model says.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		records := threadstest.Records(t)
		mappings := threadstest.Collide(t, threadstest.Mappings(t, records))
		o, store := options(threadstest.Hierarchy(records), threadstest.CSV(mappings), rapid.SampledFrom([]int{2, 7, 64, defaultRows}).Draw(t, "rows"))
		preview, err := Stage(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		check(t, threadstest.NewModel(records, mappings), preview, store.chunks)
	})
}

// Many records, in runs of pages: nothing is lost between pages and runs.
func TestManyRecords(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var records []threads.Record
	var mappings []threads.IDMapping
	const n = 60_000
	for i := range int64(n) {
		issue := 10_000 + i/7
		records = append(records, threads.Record{IssueID: issue, CommentID: 1_000_000 + i*3, ParentCommentID: 1_000_000 + i*3 - 3*rnd.Int64N(i%7+1)})
		mappings = append(mappings, threads.IDMapping{EntityType: threads.EntityComment, ServerID: 1_000_000 + i*3, CloudID: 7_000_000 + rnd.Int64N(1<<40)})
		if i%7 == 0 {
			mappings = append(mappings, threads.IDMapping{EntityType: threads.EntityIssue, ServerID: issue, CloudID: 90_000 + issue})
		}
	}
	rnd.Shuffle(n, func(i, j int) { records[i], records[j] = records[j], records[i] })
	rnd.Shuffle(len(mappings), func(i, j int) { mappings[i], mappings[j] = mappings[j], mappings[i] })
	o, store := options(threadstest.Hierarchy(records), threadstest.CSV(mappings), 20_000)
	preview, err := Stage(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(store.pages) == 0 {
		t.Error("nothing was spilled")
	}
	for i, done := range store.told {
		if done < 0 || done > 1 || i > 0 && done < store.told[i-1] {
			t.Error("progress goes", store.told)
			break
		}
	}
	check(t, threadstest.NewModel(records, mappings), preview, store.chunks)
}

// A cycle through many issues, and a long way that leads into it.
func TestLongCycle(t *testing.T) {
	var records []threads.Record
	var mappings []threads.IDMapping
	const n = 5000
	for i := range int64(n) {
		parent := i + 1
		if i == n-1 {
			parent = n / 2 // the second half is a cycle, the first leads into it
		}
		records = append(records, threads.Record{IssueID: 10 + i%3, CommentID: i, ParentCommentID: parent})
		mappings = append(mappings, threads.IDMapping{EntityType: threads.EntityComment, ServerID: i, CloudID: i})
	}
	for i := range int64(3) {
		mappings = append(mappings, threads.IDMapping{EntityType: threads.EntityIssue, ServerID: 10 + i, CloudID: 20 + i})
	}
	o, _ := options(threadstest.Hierarchy(records), threadstest.CSV(mappings), 1000)
	preview, err := Stage(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if preview.Cycles != n/2 || preview.Errors[threads.Cycle] != n/2 {
		t.Error(preview.Cycles, preview.Errors)
	}
}

func TestEmptyFiles(t *testing.T) {
	o, store := options("[]", threads.MappingHeader+"\n", 0)
	preview, err := Stage(t.Context(), o)
	if err != nil || preview.Records != 0 || len(store.chunks) != 0 {
		t.Error(preview, store.chunks, err)
	}
}

func TestRefusedFiles(t *testing.T) {
	for name, tc := range map[string]struct {
		hierarchy, mappings string
		code                fault.Code
	}{
		"the files are swapped": {threads.MappingHeader + "\n", "[]", fault.Invalid},
		"the mappings twice":    {"[]", "{}", fault.Invalid},
		"too long":              {strings.Repeat(" ", 1<<20+1), threads.MappingHeader, fault.TooLarge},
	} {
		o, _ := options(tc.hierarchy, tc.mappings, 0)
		o.MaxUnpacked = 1 << 20
		if _, err := Stage(t.Context(), o); !fault.Is(err, tc.code) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A store that fails, a file that cannot be read and a ctx that ends stop it.
func TestFailures(t *testing.T) {
	broken := errors.New("broken")
	records := threadstest.Hierarchy([]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 3}, {IssueID: 1, CommentID: 4, ParentCommentID: 3}})
	o, store := options(records, threads.MappingHeader+"\n", 1)
	store.fail = broken
	if _, err := Stage(t.Context(), o); !errors.Is(err, broken) {
		t.Error(err)
	}
	o, _ = options("", "", 0)
	o.Hierarchy.Content = io.MultiReader(strings.NewReader("["), errorReader{broken})
	if _, err := Stage(t.Context(), o); !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o, _ = options(records, "", 0)
	if _, err := Stage(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }
