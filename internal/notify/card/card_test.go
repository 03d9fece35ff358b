package card_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
)

const pr = "pull request #12 “Carry all seven wheels at once (*Wheel, not Wheel)” in ATL/engine"

// TestTitles is what people read first, of every event type.
func TestTitles(t *testing.T) {
	const feature = "feature/carry_all_wheels in ATL/engine"
	want := map[notify.EventType]string{
		notify.BranchCreated:                    "Ada Lovelace created branch " + feature,
		notify.BranchUpdated:                    "Ada Lovelace pushed to " + feature,
		notify.BranchDeleted:                    "Ada Lovelace deleted branch " + feature,
		notify.TagCreated:                       "Ada Lovelace created tag v2.1.0 in ATL/engine",
		notify.TagUpdated:                       "Ada Lovelace moved tag v2.1.0 in ATL/engine",
		notify.TagDeleted:                       "Ada Lovelace deleted tag v2.1.0 in ATL/engine",
		notify.FileEdited:                       "Ada Lovelace edited a file on " + feature,
		notify.PullRequestOpened:                "Ada Lovelace opened " + pr,
		notify.PullRequestRescoped:              "Ada Lovelace changed the commits of " + pr,
		notify.PullRequestFieldEdited:           "Ada Lovelace edited " + pr,
		notify.PullRequestTargetChanged:         "Ada Lovelace changed the target of " + pr,
		notify.PullRequestReviewersUpdated:      "Ada Lovelace changed the reviewers of " + pr,
		notify.PullRequestApproved:              "Grace Hopper approved " + pr,
		notify.PullRequestUnapproved:            "Grace Hopper no longer approves " + pr,
		notify.PullRequestChangesRequested:      "Grace Hopper requested changes to " + pr,
		notify.PullRequestChangesRequestRemoved: "Grace Hopper no longer requests changes to " + pr,
		notify.PullRequestMerged:                "Grace Hopper merged " + pr,
		notify.PullRequestDeclined:              "Grace Hopper declined " + pr,
		notify.PullRequestDeleted:               "Ada Lovelace deleted " + pr,
		notify.PullRequestCommentAdded:          "Grace Hopper commented on " + pr,
		notify.PullRequestCommentEdited:         "Grace Hopper edited a comment on " + pr,
		notify.PullRequestCommentDeleted:        "Grace Hopper deleted a comment on " + pr,
		notify.PullRequestCommentResolved:       "Grace Hopper resolved a comment on " + pr,
		notify.PullRequestCommentReopened:       "Grace Hopper reopened a comment on " + pr,
		notify.CommitCommentAdded:               "Ada Lovelace commented on commit 9e8c7d6b5a in ATL/engine",
		notify.CommitCommentEdited:              "Ada Lovelace edited a comment on commit 9e8c7d6b5a in ATL/engine",
		notify.CommitCommentDeleted:             "Ada Lovelace deleted a comment on commit 9e8c7d6b5a in ATL/engine",
		notify.BuildStatusSet:                   "Build “Engine » main #41” succeeded in ATL/engine",
		notify.PipelineStarted:                  "Pipeline #41 started for main in ATL/engine",
		notify.PipelineSucceeded:                "Pipeline #41 succeeded for main in ATL/engine",
		notify.PipelineFailed:                   "Pipeline #41 failed for main in ATL/engine",
		notify.PipelineStopped:                  "Pipeline #41 was stopped for main in ATL/engine",
		notify.RepositoryCreated:                "Ada Lovelace created repository ATL/engine",
		notify.RepositoryForked:                 "Ada Lovelace forked ATL/engine",
		notify.RepositoryFieldEdited:            "Ada Lovelace changed repository ATL/engine",
		notify.RepositoryTransferred:            "Ada Lovelace transferred repository ATL/engine",
		notify.RepositoryImported:               "Ada Lovelace imported repository ATL/engine",
		notify.RepositoryDeleted:                "Ada Lovelace deleted repository ATL/engine",
		notify.RepositoryMirrorSynchronized:     "The platform synchronized a mirror of ATL/engine",
		notify.RepositorySecretDetected:         "Ada Lovelace pushed what may be a secret in ATL/engine",
		notify.ProjectFieldEdited:               "Ada Lovelace changed project Atlas",
		notify.IssueCreated:                     "Ada Lovelace created issue #5 The bell rings twice in ATL/engine",
		notify.IssueUpdated:                     "Ada Lovelace updated issue #5 The bell rings twice in ATL/engine",
		notify.IssueCommented:                   "Ada Lovelace commented on issue #5 The bell rings twice in ATL/engine",
	}
	for _, x := range notify.EventTypes() {
		e := sample.Event(x)
		if got := card.New(&e).Title; got != want[x] {
			t.Errorf("%s: %q, want %q", x, got, want[x])
		}
	}
}

// TestCardsSayWhatMatters looks at the rest of some cards; those of all types
// are in the golden files of teams and slack.
func TestCardsSayWhatMatters(t *testing.T) {
	e := sample.Event(notify.BranchUpdated)
	c := card.New(&e)
	if len(c.Commits) != 5 || c.MoreCommits != 12 || c.Branch != e.Branch || c.Kind != card.Info {
		t.Errorf("a push: %+v", c)
	}
	if d := cmp.Diff(card.Commit{ID: "0f1d2e3c4b", Message: "Carry over <all> wheels & levers", Author: "Grace Hopper", URL: e.Commits[0].URL}, c.Commits[0]); d != "" {
		t.Error(d)
	}

	e = sample.Event(notify.PullRequestOpened)
	c = card.New(&e)
	if c.Branch != "feature/carry_all_wheels → main" || c.Text != e.PullRequest.Description {
		t.Errorf("a pull request: %+v", c)
	}
	if d := cmp.Diff([]notify.Fact{{Name: "Reviewers", Value: "Grace Hopper, Alan Turing"}}, c.Facts); d != "" {
		t.Error(d)
	}

	e = sample.Event(notify.PullRequestCommentDeleted)
	if c = card.New(&e); c.Text != "" {
		t.Errorf("a deleted comment is shown again: %q", c.Text)
	}
	e = sample.Event(notify.PullRequestCommentAdded)
	if c = card.New(&e); c.Plain() != "Grace Hopper commented on "+pr+": What if the lever is _already_ up? 1. test it 2. `carry_all(9999999)`" {
		t.Errorf("in one line: %q", c.Plain())
	}
	e.Comment.Task = true
	if c = card.New(&e); c.Title != "Grace Hopper added a task to "+pr {
		t.Error(c.Title)
	}
	e.Comment.Task, e.Comment.Parent = false, 5
	if c = card.New(&e); c.Title != "Grace Hopper answered a comment on "+pr {
		t.Error(c.Title)
	}
}

func TestBuildStates(t *testing.T) {
	for state, want := range map[string]struct {
		title string
		kind  card.Kind
	}{
		"SUCCESSFUL": {"succeeded", card.Good}, "FAILED": {"failed", card.Bad}, "INPROGRESS": {"is in progress", card.Info},
		"STOPPED": {"was stopped", card.Warning}, "CANCELLED": {"was stopped", card.Warning}, "UNKNOWN": {"has a new state", card.Neutral}, "": {"has a new state", card.Neutral},
	} {
		e := notify.Event{Types: []notify.EventType{notify.BuildStatusSet}, Build: &notify.Build{Key: "B", State: state}}
		c := card.New(&e)
		if c.Title != "Build “B” "+want.title || c.Kind != want.kind {
			t.Errorf("%s: %q, %d", state, c.Title, c.Kind)
		}
	}
}

func TestLittleIsKnown(t *testing.T) {
	for _, x := range notify.EventTypes() {
		c := card.New(&notify.Event{Types: []notify.EventType{x}})
		if c.Title == "" || strings.Contains(c.Title, "  ") || strings.HasSuffix(c.Title, " ") || len(c.Links) != 0 {
			t.Errorf("%s: %+v", x, c)
		}
	}
	if c := card.New(&notify.Event{Project: notify.Project{Key: "ATL"}}); c.Title != "Something happened in ATL" {
		t.Error(c.Title)
	}
}

func TestLinksAreAbsoluteAndDistinct(t *testing.T) {
	for _, x := range notify.EventTypes() {
		e := sample.Event(x)
		c := card.New(&e)
		if len(c.Links) < 1 || len(c.Links) > 3 {
			t.Errorf("%s has %d links", x, len(c.Links))
		}
		seen := map[string]bool{}
		for _, l := range c.Links {
			u, err := url.Parse(l.URL)
			if err != nil || !u.IsAbs() || u.Host == "" || l.Title == "" || seen[l.URL] {
				t.Errorf("%s links to %+v", x, l)
			}
			seen[l.URL] = true
		}
	}
	for in, want := range map[string]string{
		"https://h/a?b=c#d":                      "https://h/a?b=c#d",
		"http://h":                               "http://h",
		"https://h/ä":                            "https://h/%C3%A4",
		"":                                       "",
		"/projects/ATL":                          "",
		"https://":                               "",
		"https:///x":                             "",
		"https://?x":                             "",
		"javascript:alert(1)":                    "",
		"https://h/a b":                          "",
		"https://h/\"":                           "",
		"https://h/a|b":                          "",
		"https://h/<b>":                          "",
		"https://h/\n":                           "",
		"ftp://h/":                               "",
		"https://h/" + strings.Repeat("x", 2000): "",
	} {
		if got := card.Absolute(in); got != want {
			t.Errorf("Absolute(%q) = %q", in, got)
		}
	}
}

func TestLinesAreClean(t *testing.T) {
	for in, want := range map[string]string{
		"  two\n\nlines\t":          "two lines",
		"bell\a and esc\x1b":        "bell and esc",
		"turned \u202earound":       "turned around",
		"no-break\u00a0space":       "no-break space",
		"👩‍🚀":                       "👩‍🚀",
		"\x00":                      "Somebody",
		strings.Repeat("ä", 121):    strings.Repeat("ä", 119) + "…",
		strings.Repeat("ä", 120):    strings.Repeat("ä", 120),
		strings.Repeat(" x", 10000): strings.TrimSpace(strings.Repeat(" x", 60))[:119] + "…",
	} {
		c := card.New(&notify.Event{Types: []notify.EventType{notify.RepositoryCreated}, Actor: notify.User{Name: in}, Repository: notify.Repository{Key: "r"}})
		if c.Title != want+" created repository r" {
			t.Errorf("%q becomes %q", in, c.Title)
		}
	}
}

func TestParagraphs(t *testing.T) {
	long := strings.Repeat("wörd ", 200)
	for in, want := range map[string]string{
		"one\r\n\r\n\r\n\r\ntwo  \r\nthree": "one\n\ntwo\nthree",
		"\n\n  one":                         "  one",
		"a\tb\x00c":                         "a bc",
		long:                                long[:len(strings.Repeat("wörd ", 99))+len("wörd")] + "…",
	} {
		c := card.New(&notify.Event{Types: []notify.EventType{notify.CommitCommentAdded}, Comment: &notify.Comment{Text: in}})
		if c.Text != want || utf8.RuneCountInString(c.Text) > 500 {
			t.Errorf("%q becomes %q", in, c.Text)
		}
	}
}

func TestShortenLeavesCommitsOffFirstAndKeepsTitleAndLink(t *testing.T) {
	e := sample.Event(notify.BranchUpdated)
	e.Facts = []notify.Fact{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}
	c := card.New(&e)
	c.Text = "text"
	whole := c
	var order []string
	for {
		before := c
		if !c.Shorten() {
			break
		}
		switch {
		case len(c.Commits) < len(before.Commits):
			order = append(order, "commit")
		case len(c.Facts) < len(before.Facts):
			order = append(order, "fact")
		case c.Text != before.Text:
			order = append(order, "text")
		case c.Branch != before.Branch:
			order = append(order, "branch")
		case len(c.Links) < len(before.Links):
			order = append(order, "link")
		}
	}
	if got := strings.Join(order, " "); got != "commit commit commit commit commit fact fact text branch link" {
		t.Error(got)
	}
	if c.Title != whole.Title || len(c.Links) != 1 || c.Links[0] != whole.Links[0] || c.MoreCommits != 17 {
		t.Errorf("what is left: %+v", c)
	}
}

// deleted is the address of what an event of a type that deletes something
// deleted, as sample.Event has it; "" for other types.
func deleted(t notify.EventType) string {
	const repositoryURL = "https://git.example.com/projects/ATL/repos/engine"
	switch t {
	case notify.BranchDeleted:
		return repositoryURL + "/commits?until=refs%2Fheads%2Ffeature%2Fcarry_all_wheels"
	case notify.TagDeleted:
		return repositoryURL + "/commits?until=refs%2Ftags%2Fv2.1.0"
	case notify.PullRequestDeleted:
		return repositoryURL + "/pull-requests/12"
	case notify.PullRequestCommentDeleted, notify.CommitCommentDeleted:
		return "commentId="
	case notify.RepositoryDeleted:
		return repositoryURL
	}
	return ""
}

// No button leads to what the event deleted; each leads somewhere.
func TestNoLinkToWhatWasDeleted(t *testing.T) {
	for _, x := range notify.EventTypes() {
		gone := deleted(x)
		if (gone != "") != strings.HasSuffix(x.String(), "_DELETED") {
			t.Errorf("%s deletes %q", x, gone)
		}
		e := sample.Event(x)
		links := card.New(&e).Links
		if len(links) == 0 {
			t.Errorf("%s leads nowhere", x)
		}
		for _, l := range links {
			if gone != "" && strings.Contains(l.URL, gone) {
				t.Errorf("%s: %s leads to %s", x, l.Title, l.URL)
			}
		}
	}
}

func TestListsThatWereCutSaySo(t *testing.T) {
	e := sample.Event(notify.RepositorySecretDetected)
	e.Facts = nil
	for range 12 {
		e.Facts = append(e.Facts, notify.Fact{Name: "Private key", Value: "key.pem"})
	}
	if c := card.New(&e); len(c.Facts) != 12 || c.MoreFacts != 0 {
		t.Errorf("12 facts: %d, and %d more", len(c.Facts), c.MoreFacts)
	}
	e.Facts = append(e.Facts, e.Facts[:3]...)
	c := card.New(&e)
	if name, value := c.FactsMore(); len(c.Facts) != 12 || name != "…" || value != "and 3 more" {
		t.Errorf("15 facts: %d, %q %q", len(c.Facts), name, value)
	}
	c.Shorten()
	if _, value := c.FactsMore(); value != "and 4 more" {
		t.Errorf("15 facts, shortened: %q", value)
	}

	for _, tc := range []struct {
		listed, count int
		cut           bool
		want          string
	}{
		{5, 5, false, ""}, {5, 5, true, "and more"}, {6, 6, false, "and 1 more"}, {6, 6, true, "and at least 1 more"}, {0, 0, true, ""},
	} {
		e := sample.Event(notify.BranchUpdated)
		e.Commits, e.CommitCount, e.CommitsCut = e.Commits[:tc.listed], tc.count, tc.cut
		if c := card.New(&e); c.CommitsMore() != tc.want {
			t.Errorf("%+v: %q", tc, c.CommitsMore())
		}
	}
}

func TestLateCardsSayWhen(t *testing.T) {
	e := sample.Event(notify.BranchCreated)
	for after, want := range map[time.Duration][]notify.Fact{
		-time.Hour: nil, 0: nil, 5 * time.Minute: nil,
		5*time.Minute + 1: {{Name: "Happened", Value: "2026-11-20 12:00 UTC"}},
		72 * time.Hour:    {{Name: "Happened", Value: "2026-11-20 12:00 UTC"}},
	} {
		c := card.New(&e)
		c.Facts = nil
		c.Delayed(e.At.In(time.FixedZone("CET", 3600)), e.At.Add(after))
		if d := cmp.Diff(want, c.Facts); d != "" {
			t.Errorf("after %v: %s", after, d)
		}
	}
	c := card.New(&e)
	before := len(c.Facts)
	if c.Delayed(time.Time{}, e.At); len(c.Facts) != before {
		t.Errorf("at an unknown time: %v", c.Facts)
	}
}

// The platform's pipelines have a sentence for a name.
func TestPipelineTitles(t *testing.T) {
	for name, want := range map[string]string{
		"Pipeline #4 for main":            "Pipeline #4 failed for main in atlas/engine",
		"Pipeline #4 for custom: nightly": "Pipeline #4 failed for custom: nightly in atlas/engine",
		"Pipeline #4":                     "Pipeline #4 failed in atlas/engine",
		"Nightly run":                     "Pipeline “Nightly run” failed in atlas/engine",
		"":                                "Pipeline “77” failed in atlas/engine",
	} {
		e := notify.Event{
			Types: []notify.EventType{notify.PipelineFailed, notify.BuildStatusSet}, Project: notify.Project{Key: "atlas"}, Repository: notify.Repository{Key: "engine"},
			Build: &notify.Build{Key: "77", Name: name, State: "FAILED"},
		}
		if c := card.New(&e); c.Title != want || c.Kind != card.Bad {
			t.Errorf("%q: %s", name, c.Title)
		}
	}
}

// Where nothing reports whether a pull request has other commits or another title,
// its card does not say either.
func TestUpdatedPullRequest(t *testing.T) {
	e := sample.Event(notify.PullRequestFieldEdited)
	e.Types = []notify.EventType{notify.PullRequestFieldEdited, notify.PullRequestRescoped}
	if c := card.New(&e); c.Title != "Ada Lovelace updated "+pr {
		t.Error(c.Title)
	}
}

// Bodies do not say the same of one person everywhere: whom the title names is not
// said to be the author again.
func TestWhoTheTitleNamesIsNoFact(t *testing.T) {
	ada := notify.User{Name: "ada", DisplayName: "Ada Lovelace", Email: "ada@example.com"}
	for author, want := range map[notify.User]string{
		ada: "",
		{Name: "ada", DisplayName: "Ada Lovelace"}: "",
		{Name: "ada"}:                                "",
		{DisplayName: "Ada Lovelace"}:                "",
		{Name: "grace", DisplayName: "Grace Hopper"}: "Grace Hopper",
		{Name: "ada2", DisplayName: "Ada Lovelace"}:  "Ada Lovelace",
		{}: "",
	} {
		e := sample.Event(notify.PullRequestMerged)
		e.Actor, e.PullRequest.Author = ada, author
		var got []string
		for _, f := range card.New(&e).Facts {
			if f.Name == "Author" {
				got = append(got, f.Value)
			}
		}
		if strings.Join(got, ", ") != want {
			t.Errorf("%+v: %q, want %q", author, got, want)
		}
	}
}
