package processing

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/threadstest"
)

// One of the files is replaced while its preview is made, ten times at random
// distances: a preview is of the files that it names, and those alone can be loaded by
// it; what was previewed before is refused.
func TestADraftIsReplacedDuringItsPreview(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newRig(t, d, nil)
		r.work()
		defer r.end()
		records, mappings := threadstest.Many(20_000, 5)
		hierarchy, csv := threadstest.Hierarchy(records), threadstest.CSV(mappings)
		previewed := func(records int) threads.Drafts {
			t.Helper()
			for until := time.Now().Add(r.patience); ; <-time.After(time.Millisecond) {
				st, err := r.store.Preview(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if st.Preview != nil {
					if st.Preview.Records != int64(records) {
						t.Errorf("a preview of %d records, want %d", st.Preview.Records, records)
					}
					return st.Drafts()
				}
				if time.Now().After(until) {
					t.Fatal("no preview")
				}
			}
		}
		var before threads.Drafts
		for turn := range 10 {
			r.send(hierarchy, csv)
			if _, err := r.store.Preview(t.Context()); err != nil { // it begins
				t.Fatal(err)
			}
			<-time.After(rand.N(60 * time.Millisecond))
			now := len(records)
			if kind := turn % 2; kind == 0 {
				now = 100 + turn
				r.sendFile(threads.HierarchyFile, threadstest.Hierarchy(records[:now]))
			} else {
				r.sendFile(threads.MappingsFile, threadstest.CSV(mappings[:100+turn]))
			}
			named := previewed(now)
			upload := func(drafts threads.Drafts) (threads.Migration, error) {
				return r.store.Operate(t.Context(), threads.OpUpload, threads.Wish{Drafts: drafts, AcceptIncomplete: true})
			}
			if turn > 0 {
				if _, err := upload(before); !fault.Is(err, fault.Conflict) {
					t.Errorf("turn %d: loaded by an earlier preview: %v", turn, err)
				}
			}
			m, err := upload(named)
			if err != nil {
				t.Fatal(err)
			}
			if m.Phase != threads.PhaseReady {
				m = r.await(threads.PhaseReady)
			}
			if m.Records != int64(now) {
				t.Errorf("turn %d: %d records are loaded, the preview had %d", turn, m.Records, now)
			}
			r.operate(threads.OpReset)
			before = named
		}
	}, schema...)
}

// While a migration is undone somebody changes the same issues: some right before it
// comes to them, some after. What they wrote stays, the rest is undone, and what was left
// is counted and listed; so the second time.
func TestUndoWhileOthersChangeTheIssues(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		target := newMemory(nil)
		r := newRig(t, d, target)
		r.options.ChunkSize = 10
		r.work()
		defer r.end()
		records, mappings := threadstest.Many(240, 3)
		for turn := range 2 {
			before := had(records, mappings)
			target.mu.Lock()
			clear(target.maps)
			target.mu.Unlock()
			r.holding(maps.Clone(before))
			r.do(records, mappings)
			written := r.stored()
			place := make(map[int64]int)
			for n, issue := range sortedIssues(records, mappings) {
				place[issue] = n
			}
			third := &third{target: target, place: place, want: before, written: written, left: make(map[int64]bool)}
			target.answers(third.answer)
			r.operate(threads.OpUndo)
			m := r.await(threads.PhaseEmpty)
			target.answers(nil)
			if len(third.left) < 10 || third.later < 10 {
				t.Fatalf("turn %d: only %d issues changed before their turn and %d after it", turn, len(third.left), third.later)
			}
			if got := target.all(); !maps.EqualFunc(got, before, func(a, b threads.ParentMap) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
				for issue := range before {
					if fmt.Sprint(got[issue]) != fmt.Sprint(before[issue]) {
						t.Errorf("turn %d: issue %d (%d) has %v, want %v", turn, issue, place[issue], got[issue], before[issue])
					}
				}
			}
			if want := fmt.Sprintf(" In %d issues, threads that others changed since were left as they are.", len(third.left)); !strings.HasSuffix(m.Message, want) {
				t.Errorf("turn %d: %q, want %q", turn, m.Message, want)
			}
			left, err := r.store.UndoLeft(t.Context(), 0)
			if err != nil || len(left) != len(third.left) {
				t.Errorf("turn %d: %d are listed as left, want %d, %v", turn, len(left), len(third.left), err)
			}
			for _, l := range left {
				if l.Reason != threads.ChangedByOthers || place[l.CloudIssueID]%3 != 0 {
					t.Errorf("turn %d: left is %+v", turn, l)
				}
			}
		}
	}, schema...)
}

// third is somebody who changes issues while they are undone: each third one right
// before it is read, and each that had nothing before the migration some time after.
type third struct {
	target  *memory
	place   map[int64]int
	want    map[int64]threads.ParentMap // what the target has in the end
	written map[int64]threads.ParentMap

	mu    sync.Mutex
	seen  []int64 // the issues that were asked for, in order; one of two chunks twice
	left  map[int64]bool
	next  []int64 // to be changed once no request about them is under way
	later int
}

func (p *third) answer(_ int, issue int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	set := func(issue int64, change threads.ParentMap) {
		p.want[issue] = p.want[issue].Merge(change)
		p.target.mu.Lock()
		defer p.target.mu.Unlock()
		p.target.maps[issue] = p.target.maps[issue].Merge(change)
	}
	p.seen = append(p.seen, issue)
	if p.place[issue]%3 == 0 {
		p.left[issue] = true
		set(issue, threads.ParentMap{{CommentID: p.written[issue][0].CommentID, ParentID: 77}})
	}
	if n := len(p.seen) - 3*atOnce; n >= 0 && p.place[p.seen[n]]%3 == 2 {
		p.next = append(p.next, p.seen[n])
	}
	p.next = slices.DeleteFunc(p.next, func(issue int64) bool {
		if p.target.underWay(issue) {
			return false
		}
		p.later++
		set(issue, threads.ParentMap{{CommentID: 2_000_000_000, ParentID: 1_999_999_999}})
		return true
	})
	return nil
}
