package postfix

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// program writes a shell script in place of postqueue.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "postqueue")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func open(t *testing.T, program, configDir string) *Source {
	t.Helper()
	s := New(program, configDir)
	t.Cleanup(s.Close)
	return s
}

// listing is the script that prints what a Postfix 3.7 listed.
func listing(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("testdata/listing.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return program(t, "exec cat "+path)
}

// Each way in which Postfix does not answer is an error that says so, and
// never a number.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name, script, want string
	}{
		{"stopped", "echo 'postqueue: warning: close' >&2\necho 'postqueue: fatal: Queue report unavailable - mail system is down' >&2\nexit 69",
			"The local Postfix did not list its queue: postqueue: fatal: Queue report unavailable - mail system is down."},
		{"failed in the middle", `echo '{"queue_name": "active"}'; exit 1`, "The local Postfix did not list its queue: exit status 1."},
		{"something else", "echo Mail queue is empty", "The queue listing of the local Postfix could not be parsed: it is not JSON."},
		{"something else without end", "exec yes", "The queue listing of the local Postfix could not be parsed: it is not JSON."},
		{"stalled", `echo '{"queue_name": "active"}'; exec sleep 60`, "The local Postfix did not list its queue within 300ms."},
		{"endless complaints", "for i in 1 2 3 4 5 6 7 8; do head -c 1000 /dev/zero >&2; done; echo >&2; echo the last word >&2; exit 1",
			"The local Postfix did not list its queue: the last word."},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := open(t, program(t, test.script), "")
			if test.name == "stalled" {
				s.limit = 300 * time.Millisecond
			}
			sizes, err := s.Sizes(t.Context())
			if !fault.Is(err, fault.Unavailable) || fault.As(err).Message != test.want || sizes != (mailqueue.Sizes{}) {
				t.Errorf("%+v, %v", sizes, err)
			}
		})
	}
	missing := open(t, filepath.Join(t.TempDir(), "postqueue"), "")
	if _, err := missing.Sizes(t.Context()); !fault.Is(err, fault.Unavailable) || !strings.Contains(fault.As(err).Message, "cannot be run") {
		t.Errorf("a program that is not there: %v", err)
	}
}

// One run goes on at a time, and every caller gets numbers that are newer than
// the question.
func TestOneRunAtATime(t *testing.T) {
	dir := t.TempDir()
	s := open(t, program(t, `cd `+dir+`
mkdir running || { echo '{"queue_name": "two at once"}'; exit; }
n=$(cat queued 2>/dev/null || echo 0)
while [ "$n" -gt 0 ]; do echo '{"queue_name": "active"}'; n=$((n-1)); done
rmdir running`), "")
	var askers sync.WaitGroup
	for range 20 {
		askers.Go(func() {
			if sizes, err := s.Sizes(t.Context()); err != nil || sizes.Size > 3 {
				t.Errorf("%+v, %v", sizes, err)
			}
		})
	}
	if err := os.WriteFile(filepath.Join(dir, "queued"), []byte("3"), 0o600); err != nil {
		t.Fatal(err)
	}
	if sizes, err := s.Sizes(t.Context()); err != nil || sizes.Size != 3 {
		t.Errorf("asked after 3 were queued: %+v, %v", sizes, err)
	}
	askers.Wait()
}

// A caller who has to go does not wait for the run, and the run ends with the
// source.
func TestCallerLeaves(t *testing.T) {
	s := open(t, program(t, "exec sleep 60"), "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Sizes(ctx); !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestListingOfPostfix(t *testing.T) {
	s := open(t, listing(t), "")
	if sizes, err := s.Sizes(t.Context()); err != nil || sizes != (mailqueue.Sizes{Size: 2, ErrorSize: 1}) {
		t.Errorf("%+v, %v", sizes, err)
	}
}
