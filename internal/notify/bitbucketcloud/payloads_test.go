package bitbucketcloud

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/notify"
)

const base = "https://bitbucket.org"

// realPayload is a body that a real server sent or the vendor's page shows.
type realPayload struct {
	file, key, note string
	body            []byte
}

// realPayloads are not ours to carry, so they lie beside the repository.
func realPayloads(t *testing.T) []realPayload {
	t.Helper()
	dir := os.Getenv("OUTRIGGER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no payloads of real servers here: %v", err)
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "payloads", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ File, Edition, EventKey, Note string }
	if err := json.Unmarshal(manifest, &entries); err != nil {
		t.Fatal(err)
	}
	var all []realPayload
	for _, e := range entries {
		if e.Edition != string(notify.Cloud) {
			continue
		}
		body, err := os.ReadFile(filepath.Join(dir, "payloads", e.File))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, realPayload{e.File, e.EventKey, e.Note, body})
	}
	return all
}

// typesOf decodes and says the types of each event.
func typesOf(t *testing.T, key, body string) string {
	t.Helper()
	got, events, err := Decode(key, []byte(body), base)
	if err != nil || got != key {
		t.Fatal(got, err)
	}
	return typesIn(events)
}

func typesIn(events []notify.Event) string {
	var all []string
	for _, e := range events {
		var names []string
		for _, x := range e.Types {
			names = append(names, x.String())
		}
		all = append(all, strings.Join(names, "+"))
	}
	return strings.Join(all, " ")
}

func TestPayloads(t *testing.T) {
	payloads := realPayloads(t)
	for _, p := range payloads {
		t.Run(p.file, func(t *testing.T) {
			if got, want := typesOf(t, p.key, string(p.body)), payloadTypes[p.file]; want == "" || got != want {
				t.Errorf("it is %q, want %q", got, want)
			}
			_, events, _ := Decode(p.key, p.body, base)
			checkPayload(t, p.key, p.body, events)
		})
	}
	if len(payloads) != len(payloadTypes) {
		t.Errorf("the manifest lists %d bodies of the cloud edition, and the table %d", len(payloads), len(payloadTypes))
	}
}

// checkPayload compares with what a plain reading of the body says.
func checkPayload(t *testing.T, key string, body []byte, events []notify.Event) {
	var b struct {
		Actor      struct{ DisplayName, Username string }
		Repository struct {
			FullName string
			Links    struct{ HTML struct{ Href string } }
		}
		Push struct {
			Changes []struct {
				Old, New *struct {
					Name   string
					Target struct{ Hash string }
				}
				Commits   []struct{ Hash string }
				Truncated bool
			}
		}
		PullRequest struct {
			ID                  int64
			Title               string
			Source, Destination struct{ Branch struct{ Name string } }
			Links               struct{ HTML struct{ Href string } }
		}
		Comment struct{ Content struct{ Raw string } }
		Status  struct{ Key, State, Refname string } `json:"commit_status"`
		Changes map[string]struct{ Old, New any }
	}
	plain := strings.NewReplacer(`"display_name"`, `"displayname"`, `"full_name"`, `"fullname"`).Replace(string(body))
	if err := json.Unmarshal([]byte(plain), &b); err != nil {
		t.Fatal(err)
	}
	want := 1
	if key == "repo:push" {
		want = len(b.Push.Changes)
	}
	if len(events) != want {
		t.Fatalf("%d events, want %d", len(events), want)
	}
	for i, e := range events {
		place := b.Repository.FullName
		if full, ok := b.Changes["fullname"]; ok {
			place = full.New.(string)
		}
		if got := e.Project.Key + "/" + e.Repository.Key; got != place {
			t.Errorf("it happened to %s, want %s", got, place)
		}
		if e.URL == "" || e.Repository.URL == "" || e.Project.URL == "" {
			t.Errorf("incomplete: %+v", e)
		}
		if who := e.Actor.Label(); who != b.Actor.DisplayName && who != b.Actor.Username {
			t.Errorf("%q caused it", who)
		}
		if p := e.PullRequest; p != nil && (p.ID != b.PullRequest.ID || p.Title != b.PullRequest.Title || p.Source != b.PullRequest.Source.Branch.Name || e.Branch != b.PullRequest.Destination.Branch.Name || e.URL != b.PullRequest.Links.HTML.Href) {
			t.Errorf("another pull request: %+v", p)
		}
		if e.Comment != nil && e.Comment.Text != b.Comment.Content.Raw {
			t.Errorf("another comment: %+v", e.Comment)
		}
		if e.Build != nil && (e.Build.Key != b.Status.Key || e.Build.State != b.Status.State || e.Branch != b.Status.Refname || len(e.Build.Commit) != 40) {
			t.Errorf("another build: %+v", e.Build)
		}
		if e.Ref != nil {
			c := b.Push.Changes[i]
			if c.New != nil && (e.Branch != c.New.Name || e.Ref.To != c.New.Target.Hash) || c.Old != nil && (e.Branch != c.Old.Name || e.Ref.From != c.Old.Target.Hash) {
				t.Errorf("another ref: %+v", e.Ref)
			}
			if e.CommitCount != len(c.Commits) || e.CommitsCut != c.Truncated {
				t.Errorf("%d commits, cut %t", e.CommitCount, e.CommitsCut)
			}
		}
	}
}

// A body that was recorded and is sent again under another key is no event, as
// far as its shape tells: one that has all that the other key's have passes, and
// those of pull requests and of issues have much in common.
func TestRecordedUnderAnotherKey(t *testing.T) {
	alike := [][]string{
		{"repo:created", "repo:imported", "repo:deleted", "repo:transfer"},
		{"repo:commit_status_created", "repo:commit_status_updated"},
	}
	same := func(a, b string) bool {
		for _, group := range alike {
			if strings.Contains(strings.Join(group, " ")+" ", a+" ") && strings.Contains(strings.Join(group, " ")+" ", b+" ") {
				return true
			}
		}
		family := func(key string) string { return key[:strings.Index(key, ":")] }
		return a == b || family(a) == family(b) && family(a) != "repo"
	}
	for _, p := range realPayloads(t) {
		if strings.Contains(string(p.body), "OPEN|MERGED|DECLINED") { // the vendor's page has one body for several keys
			continue
		}
		for key := range kinds {
			if key == "pipeline:span_created" || same(key, p.key) {
				continue
			}
			if _, events, err := Decode(key, p.body, base); len(events) > 0 || !errors.Is(err, notify.ErrNotUnderstood) {
				t.Errorf("%s passes for %s: %v, %v", p.file, key, typesIn(events), err)
			}
		}
	}
}
