package source

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/store"
)

// imports is the self-hosted side on a migrated database.
func NewImports(d *db.DB) *Imports { return &Imports{Store: store.NewSource(d), MaxUpload: 1 << 30} }

// leases hands out leases of d until the test ends.
func NewLeases(t *testing.T, d *db.DB, owner string) *db.Leases {
	t.Helper()
	l := db.NewLeases(d, owner, nil)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	return l
}

func AcquireLease(t *testing.T, l *db.Leases, name string) *db.Lease {
	t.Helper()
	lease, err := l.Acquire(t.Context(), name)
	if err != nil || lease == nil {
		t.Fatalf("no lease: %v", err)
	}
	return lease
}

func Rec(issue, comment, parent int64) threads.Record {
	return threads.Record{IssueID: issue, CommentID: comment, ParentCommentID: parent}
}

// hierarchyFile writes records as a hierarchy file.
func HierarchyFile(records []threads.Record) *strings.Reader {
	b := []byte{'['}
	for i, r := range records {
		if i > 0 {
			b = append(b, ',')
		}
		b = format.AppendRecord(b, r)
	}
	return strings.NewReader(string(append(b, ']')))
}

func MustImport(t testing.TB, im *Imports, records []threads.Record) HierarchyImport {
	t.Helper()
	out, err := im.Hierarchy(t.Context(), HierarchyFile(records))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// everything concatenates all pages of a size.
func Everything(t testing.TB, s *store.Source, limit int) []threads.Record {
	t.Helper()
	var all []threads.Record
	for {
		page, err := s.Page(t.Context(), int64(len(all)), limit)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Data...)
		if !page.HasMore {
			if page.TotalCount != int64(len(all)) {
				t.Errorf("%d records, and a total of %d", len(all), page.TotalCount)
			}
			return all
		}
	}
}

// model is what the store should have: the last record of each comment.
type model map[int64]threads.Record

func (m model) export() []threads.Record {
	var all []threads.Record
	for _, r := range m {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b threads.Record) int {
		return cmp.Or(cmp.Compare(a.IssueID, b.IssueID), cmp.Compare(a.CommentID, b.CommentID))
	})
	return all
}

// forest makes n records in random order: replies in issues of about 20.
func Forest(n int, seed uint64) []threads.Record {
	rnd := rand.New(rand.NewPCG(seed, seed))
	records := make([]threads.Record, n)
	for i := range records {
		comment := int64(10_000 + 3*i)
		records[i] = threads.Record{IssueID: int64(500 + rnd.IntN(n/20+1)), CommentID: comment, ParentCommentID: comment - 1 - rnd.Int64N(100)}
	}
	rnd.Shuffle(n, func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records
}

func TestImport(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		im := NewImports(d)
		records := []threads.Record{Rec(10001, 10502, 10501), Rec(10001, 10503, 10502), Rec(10002, 10510, 10505)}
		if out := MustImport(t, im, records); out.ImportCounts != (threads.ImportCounts{Added: 3}) || out.Total != 3 {
			t.Errorf("the first time: %+v", out)
		}
		if out := MustImport(t, im, records); out.ImportCounts != (threads.ImportCounts{Unchanged: 3}) || out.Total != 3 {
			t.Errorf("the same again: %+v", out)
		}
		// Another parent, another issue, one that is new; the first twice: the last counts.
		out := MustImport(t, im, []threads.Record{
			Rec(10001, 10502, 10499), Rec(10001, 10502, 10500), Rec(10001, 10510, 10505), Rec(math.MaxInt64, math.MaxInt64, math.MaxInt64-1),
		})
		if out.ImportCounts != (threads.ImportCounts{Added: 1, Replaced: 3}) || out.Total != 4 {
			t.Errorf("with changes: %+v", out)
		}
		want := []threads.Record{
			Rec(10001, 10502, 10500), Rec(10001, 10503, 10502), Rec(10001, 10510, 10505), Rec(math.MaxInt64, math.MaxInt64, math.MaxInt64-1),
		}
		if diff := gocmp.Diff(want, Everything(t, im.Store, 3)); diff != "" {
			t.Error(diff)
		}
		if err := im.Clear(t.Context()); err != nil {
			t.Fatal(err)
		}
		if all := Everything(t, im.Store, 3); len(all) != 0 {
			t.Errorf("cleared, and there are %v", all)
		}
		if out := MustImport(t, im, records); out.ImportCounts != (threads.ImportCounts{Added: 3}) {
			t.Errorf("after clearing: %+v", out)
		}
	}, audit.Migrations, store.Migrations)
}

// Whatever is imported in whatever order, the pages together are the last
// record of each comment in the export's order, and any page is its part.
func TestPagesAreTheModel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		im := NewImports(d)
		m := model{}
		for round := range uint64(3) {
			records := Forest(3000+500*int(round), round)
			for i := range records {
				if round > 0 && i%3 == 0 { // moved to another issue
					records[i].IssueID += 7
				}
			}
			MustImport(t, im, records)
			for _, r := range records {
				m[r.CommentID] = r
			}
			want := m.export()
			for _, limit := range []int{999} {
				if diff := gocmp.Diff(want, Everything(t, im.Store, limit)); diff != "" {
					t.Fatalf("round %d, pages of %d: %s", round, limit, diff)
				}
			}
			rapid.Check(t, func(rt *rapid.T) {
				offset := rapid.Int64Range(0, int64(len(want)+10)).Draw(rt, "offset")
				limit := rapid.IntRange(1, 200).Draw(rt, "limit")
				page, err := im.Store.Page(t.Context(), offset, limit)
				if err != nil {
					rt.Fatal(err)
				}
				from := min(int(offset), len(want))
				part := want[from:min(from+limit, len(want))]
				if !slices.Equal(part, page.Data) || page.HasMore != (from+len(part) < len(want)) {
					rt.Fatalf("offset %d limit %d: %d records, more %v", offset, limit, len(page.Data), page.HasMore)
				}
			})
		}
	}, audit.Migrations, store.Migrations)
}

// Two nodes may import at the same time: what each writes is there, and counted.
func TestImportsAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		one, other := NewImports(d), NewImports(d)
		records := Forest(3000, 9)
		done := make(chan error)
		for i, im := range []*Imports{one, other} {
			go func() {
				_, err := im.Hierarchy(context.WithoutCancel(t.Context()), HierarchyFile(records[1000*i:1000*i+2000]))
				done <- err
			}()
		}
		for range 2 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		m := model{}
		for _, r := range records {
			m[r.CommentID] = r
		}
		for _, im := range []*Imports{one, other} {
			if diff := gocmp.Diff(m.export(), Everything(t, im.Store, 1000)); diff != "" {
				t.Error(diff)
			}
		}
	}, audit.Migrations, store.Migrations)
}
