package bitbucketdc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"outrigger/internal/notify"
)

// TestPayloads reads bodies that real servers sent. They are not ours to
// carry, so they lie beside the repository.
func TestPayloads(t *testing.T) {
	dir := sharedDir(t)
	manifest, err := os.ReadFile(filepath.Join(dir, "payloads", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ File, Edition, EventKey string }
	if err := json.Unmarshal(manifest, &entries); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range entries {
		if entry.Edition != string(notify.SelfHosted) {
			continue
		}
		seen++
		t.Run(entry.File, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join(dir, "payloads", entry.File))
			if err != nil {
				t.Fatal(err)
			}
			_, events, err := Decode(entry.EventKey, body, base)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := typesOf(t, entry.EventKey, string(body)), payloadTypes[entry.File]; want == "" || got != want {
				t.Errorf("it is %q, want %q", got, want)
			}
			checkPayload(t, entry.EventKey, body, events)
		})
	}
	if seen != len(payloadTypes) {
		t.Errorf("the manifest lists %d bodies of the self-hosted edition, and the table %d", seen, len(payloadTypes))
	}
}

// checkPayload compares with what a plain reading of the body says.
func checkPayload(t *testing.T, key string, body []byte, events []notify.Event) {
	var b struct {
		Actor       struct{ Name string }
		Changes     []struct{ Ref struct{ DisplayID string } }
		Commits     []struct{ ID string }
		PullRequest struct {
			ID             int64
			Title          string
			FromRef, ToRef struct{ DisplayID string }
		}
		Comment struct{ Text string }
	}
	if err := json.Unmarshal(body, &b); err != nil {
		t.Fatal(err)
	}
	want := 1
	if key == "repo:refs_changed" {
		want = len(b.Changes)
	}
	if len(events) != want {
		t.Fatalf("%d events, want %d", len(events), want)
	}
	for i, e := range events {
		if e.At.IsZero() || e.Actor.Name != b.Actor.Name || e.URL == "" || e.Project.Key == "" || e.Repository.Key == "" {
			t.Errorf("incomplete: %+v", e)
		}
		if p := e.PullRequest; p != nil && (p.ID != b.PullRequest.ID || p.Title != b.PullRequest.Title || p.Source != b.PullRequest.FromRef.DisplayID || e.Branch != b.PullRequest.ToRef.DisplayID) {
			t.Errorf("another pull request: %+v", p)
		}
		if e.Comment != nil && e.Comment.Text != b.Comment.Text {
			t.Errorf("another comment: %+v", e.Comment)
		}
		if e.Ref != nil && e.Branch != b.Changes[i].Ref.DisplayID {
			t.Errorf("another branch: %+v", e.Ref)
		}
		if want == 1 && e.CommitCount != len(b.Commits) {
			t.Errorf("%d commits, want %d", e.CommitCount, len(b.Commits))
		}
	}
}

func sharedDir(t *testing.T) string {
	dir := os.Getenv("OUTRIGGER_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "..", "shared")
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no payloads of real servers here: %v", err)
	}
	return dir
}
