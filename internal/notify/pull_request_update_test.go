package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// said is a webhook of one pull request: at a minute, with what stands there.
type said struct {
	tracking       PullRequestUpdate
	minute         int
	source, target string
	title          string
}

func (s said) event() *Event {
	types := map[PullRequestUpdate]EventType{Touched: PullRequestCommentAdded, Opened: PullRequestOpened, Pushed: PullRequestRescoped, Updated: PullRequestFieldEdited}
	e := &Event{
		Types: []EventType{types[s.tracking]}, Update: s.tracking,
		PullRequest: &PullRequest{ID: 3, Title: s.title, Source: "f", Target: s.target, SourceCommit: s.source},
	}
	if s.minute > 0 {
		e.At = time.Date(2026, 11, 20, 12, s.minute, 0, 0, time.UTC)
	}
	return e
}

// TestPullRequestUpdates tells stories: what each webhook of a pull request is taken for,
// after those before it. "-" is one that is no news.
func TestPullRequestUpdates(t *testing.T) {
	opened := said{Opened, 1, "a1", "main", "T"}
	for name, c := range map[string]struct {
		said []said
		want string
	}{
		"two keys for a push, :push first":    {[]said{opened, {Pushed, 2, "b2", "main", "T"}, {Updated, 2, "b2", "main", "T"}}, "OPENED RESCOPED -"},
		"two keys for a push, :updated first": {[]said{opened, {Updated, 2, "b2", "main", "T"}, {Pushed, 2, "b2", "main", "T"}}, "OPENED RESCOPED -"},
		"pushes by :updated alone":            {[]said{opened, {Updated, 2, "b2", "main", "T"}, {Updated, 3, "c3", "main", "T"}}, "OPENED RESCOPED RESCOPED"},
		"pushes by :push alone":               {[]said{opened, {Pushed, 2, "b2", "main", "T"}, {Pushed, 3, "c3", "main", "T"}}, "OPENED RESCOPED RESCOPED"},
		"each push by both": {[]said{opened, {Pushed, 2, "b2", "main", "T"}, {Updated, 2, "b2", "main", "T"}, {Updated, 3, "c3", "main", "T"}, {Pushed, 3, "c3", "main", "T"}},
			"OPENED RESCOPED - RESCOPED -"},
		"another title":              {[]said{opened, {Updated, 2, "a1", "main", "U"}}, "OPENED FIELD_EDITED"},
		"another target":             {[]said{opened, {Updated, 2, "a1", "dev", "T"}}, "OPENED TARGET_CHANGED"},
		"all at once":                {[]said{opened, {Updated, 2, "b2", "dev", "U"}}, "OPENED RESCOPED+TARGET_CHANGED+FIELD_EDITED"},
		"what nothing tells":         {[]said{opened, {Updated, 2, "a1", "main", "T"}, {Updated, 3, "a1", "main", "T"}}, "OPENED FIELD_EDITED FIELD_EDITED"},
		"a title after a push":       {[]said{opened, {Pushed, 2, "b2", "main", "T"}, {Updated, 3, "b2", "main", "U"}, {Updated, 4, "b2", "main", "U"}}, "OPENED RESCOPED FIELD_EDITED FIELD_EDITED"},
		"a title and its push":       {[]said{opened, {Pushed, 2, "b2", "main", "U"}, {Updated, 2, "b2", "main", "U"}}, "OPENED RESCOPED FIELD_EDITED"},
		"nothing known, :updated":    {[]said{{Updated, 2, "b2", "main", "T"}, {Updated, 3, "c3", "main", "T"}}, "FIELD_EDITED+RESCOPED RESCOPED"},
		"nothing known, :push":       {[]said{{Pushed, 2, "b2", "main", "T"}, {Updated, 2, "b2", "main", "T"}}, "RESCOPED -"},
		"known by a comment":         {[]said{{Touched, 2, "a1", "main", "T"}, {Updated, 3, "b2", "main", "T"}}, "COMMENT_ADDED RESCOPED"},
		"a comment before the push":  {[]said{opened, {Touched, 3, "b2", "main", "T"}, {Updated, 2, "b2", "main", "T"}}, "OPENED COMMENT_ADDED RESCOPED"},
		"opened late":                {[]said{{Updated, 2, "b2", "main", "T"}, opened, {Updated, 3, "b2", "main", "U"}}, "FIELD_EDITED+RESCOPED OPENED FIELD_EDITED"},
		"an old update late":         {[]said{opened, {Updated, 5, "c3", "main", "V"}, {Updated, 2, "b2", "main", "U"}, {Updated, 6, "c3", "main", "V"}}, "OPENED RESCOPED+FIELD_EDITED FIELD_EDITED+RESCOPED FIELD_EDITED"},
		"an old push late":           {[]said{opened, {Pushed, 5, "c3", "main", "T"}, {Pushed, 2, "b2", "main", "T"}, {Updated, 5, "c3", "main", "T"}}, "OPENED RESCOPED RESCOPED -"},
		"abbreviated":                {[]said{{Opened, 1, "a1b2c3d4e5f6", "main", "T"}, {Updated, 2, "a1b2c3d4e5f60718", "main", "U"}}, "OPENED FIELD_EDITED"},
		"commits and targets unsaid": {[]said{opened, {Updated, 2, "", "", "U"}}, "OPENED FIELD_EDITED"},
		"no times":                   {[]said{{Opened, 0, "a1", "main", "T"}, {Pushed, 0, "b2", "main", "T"}, {Updated, 0, "b2", "main", "T"}}, "OPENED RESCOPED -"},
		"a time, then none":          {[]said{opened, {Pushed, 2, "b2", "main", "T"}, {Updated, 0, "b2", "main", "T"}}, "OPENED RESCOPED -"},
	} {
		var seen PullRequestState
		var got []string
		for _, s := range c.said {
			e := s.event()
			now, news := e.resolve(seen)
			var types []string
			for _, x := range e.Types {
				types = append(types, strings.TrimPrefix(x.String(), "PULL_REQUEST_"))
			}
			if !news {
				types = []string{"-"}
			}
			got, seen = append(got, strings.Join(types, "+")), now
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// The platform may send no :updated for a push. The next one is then of another
// change, which is told though nothing that is compared shows it: reviewers, say.
func TestAnUpdateAfterAPushIsTheSameChangeForTenSecondsOnly(t *testing.T) {
	pushed := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for after, told := range map[time.Duration]bool{0: false, 10 * time.Second: false, 11 * time.Second: true, 24 * time.Hour: true} {
		push, update := said{Pushed, 0, "b2", "main", "T"}.event(), said{Updated, 0, "b2", "main", "T"}.event()
		push.At, update.At = pushed, pushed.Add(after)
		seen, _ := push.resolve(PullRequestState{Source: "a1", Target: "main", Title: "T", Description: push.pullRequestState().Description, At: pushed.Add(-time.Hour)})
		now, news := update.resolve(seen)
		if news != told || news && update.Types[0] != PullRequestFieldEdited {
			t.Errorf("%s after the push: told %v as %v, want %v", after, news, update.Types, told)
		}
		again := said{Updated, 0, "b2", "main", "T"}.event()
		again.At = update.At
		if _, news := again.resolve(now); !news { // a push has one :updated
			t.Errorf("%s after the push: the second one is not told", after)
		}
	}
}

func TestTrackedChanges(t *testing.T) {
	seen := PullRequestState{Source: "a1", Target: "main", Title: "T", Description: "?", Draft: true}
	e := said{Updated, 2, "b2", "dev", "U"}.event()
	e.PullRequest.Description = "new words"
	for range 2 { // a batch may be tried again
		e.resolve(seen)
		want := []Change{{"commit", "a1", "b2"}, {"target", "main", "dev"}, {"title", "T", "U"}, {"description", "", "new words"}, {"draft", "yes", "no"}}
		if d := cmp.Diff(want, e.Changes); d != "" {
			t.Error(d)
		}
	}
}

// Whatever is said in whatever order, every push is told of and no types are
// left out.
func TestEveryTrackedPushIsTold(t *testing.T) {
	for order := range 8 {
		var seen PullRequestState
		told := 0
		for push := range 3 {
			source := fmt.Sprintf("%c%d", 'a'+push, push)
			pair := []said{{Pushed, push + 1, source, "main", "T"}, {Updated, push + 1, source, "main", "T"}}
			if order>>push&1 == 1 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			for _, s := range pair {
				e := s.event()
				now, news := e.resolve(seen)
				if seen = now; news && e.TypeSet().Has(PullRequestRescoped) {
					told++
				}
			}
		}
		if told != 3 {
			t.Errorf("in order %b, 3 pushes are told of %d times", order, told)
		}
	}
}
