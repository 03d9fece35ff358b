package client

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

// cloud plays the cloud side: a migration whose loading and processing take a
// few looks each. trouble is asked before each request; it may break it off
// before anything was done ("before"), or before the answer ("after").
type cloud struct {
	trouble func(n int) string

	mu    sync.Mutex // an answer may still be ending when the next request comes
	phase threads.Phase
	looks int // since the phase began
	asked []string
	done  []threads.Operation
}

// itsDrafts are the files of the cloud's migration.
var itsDrafts = threads.Drafts{Hierarchy: threads.Draft{ID: 1}, Mappings: threads.Draft{ID: 2}}

func (c *cloud) client() *Client {
	return &Client{Base: "https://cloud.example.com/base", HTTP: doer(c.serve)}
}

func (c *cloud) serve(x *exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.asked)
	c.asked = append(c.asked, x.Method+" "+path.Base(x.URL.Path)+strings.TrimSuffix("?"+x.URL.RawQuery, "?"))
	trouble := ""
	if c.trouble != nil {
		trouble = c.trouble(n)
	}
	if trouble == "before" {
		x.answer(503)
		return
	}
	status, body := c.do(x.Method, path.Base(x.URL.Path))
	if trouble == "after" {
		x.answer(status).say(body[:len(body)/2])
		x.cut(errReset)
		return
	}
	x.header.Set("Content-Type", "application/json")
	x.answer(status).say(body)
}

func (c *cloud) do(method, what string) (int, string) {
	if method == "POST" {
		op := threads.Operation(what)
		after, err := c.phase.After(op)
		if err != nil {
			return 409, fmt.Sprintf(`{"status-code":409,"message":%q}`, err.Error())
		}
		c.phase, c.looks = after, 0
		c.done = append(c.done, op)
		return 202, c.status()
	}
	if c.looks++; c.looks > 3 {
		switch c.phase {
		case threads.PhaseLoading:
			c.phase, c.looks = threads.PhaseReady, 0
		case threads.PhaseProcessing:
			c.phase, c.looks = threads.PhaseCompleted, 0
		}
	}
	return 200, c.status()
}

func (c *cloud) status() string {
	b, err := json.Marshal(map[string]any{
		"status": c.phase.Status(), "phase": c.phase, "progress": map[string]int{"processed": c.looks * 1000, "total": 10000, "percent": c.looks * 10},
		"chunks": map[string]int{"processed": c.looks, "total": 10}, "issuesProcessed": 310, "parentMapsCreated": 2988,
		"errors": map[string]int{"permanent": 12, "retryable": 3}, "startedAt": "2026-05-04T10:00:00Z", "updatedAt": "2026-05-04T10:01:00Z",
		"message": "as it is", "allowed": c.phase.Allowed(), "data": itsDrafts,
	})
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestStatusIsRead(t *testing.T) {
	c := &cloud{phase: threads.PhaseProcessing}
	st, err := c.client().Status(t.Context())
	if err != nil || st.Status != threads.InProgress || st.Phase != threads.PhaseProcessing || st.Progress.Processed != 1000 || st.Progress.Total != 10000 ||
		st.Progress.Percent != 10 || st.Chunks.Processed != 1 || st.Chunks.Total != 10 || st.IssuesProcessed != 310 || st.ParentMapsCreated != 2988 ||
		st.Errors.Permanent != 12 || st.Errors.Retryable != 3 || !st.WaitUntil.IsZero() || st.StartedAt.Hour() != 10 || st.UpdatedAt.Minute() != 1 ||
		st.Message != "as it is" || fmt.Sprint(st.Allowed) != "[stop cancel]" {
		t.Errorf("%+v, %v", st, err)
	}
}

// Whichever answers are lost, each operation is done once, and what became of
// it is known.
func TestOperationsSurvive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		troubles := rapid.SliceOfN(rapid.SampledFrom([]string{"", "before", "after"}), 0, 9).Draw(rt, "troubles")
		inBubble(t, func(t *testing.T) {
			c := &cloud{phase: threads.PhaseEmpty, trouble: func(n int) string {
				if n < len(troubles) {
					return troubles[n]
				}
				return ""
			}}
			ctx := t.Context()
			client := c.client()
			if st, err := client.Operate(ctx, threads.OpUpload, threads.Wish{AcceptIncomplete: true, Drafts: itsDrafts}); err != nil || st.Phase != threads.PhaseLoading && st.Phase != threads.PhaseReady {
				rt.Fatalf("upload: %+v, %v", st, err)
			}
			if st, err := client.Follow(ctx, nil, threads.PhaseLoading); err != nil || st.Phase != threads.PhaseReady {
				rt.Fatalf("loading: %+v, %v", st, err)
			}
			if _, err := client.Operate(ctx, threads.OpStart, threads.Wish{Drafts: itsDrafts}); err != nil {
				rt.Fatalf("start: %v", err)
			}
			told := 0
			st, err := client.Follow(ctx, func(threads.MigrationStatus) { told++ }, threads.PhaseProcessing)
			if err != nil || st.Phase != threads.PhaseCompleted || told == 0 {
				rt.Fatalf("processing: %+v, %v, told %d times", st, err, told)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			uploads, starts := 0, 0
			for _, op := range c.done {
				switch op {
				case threads.OpUpload: // again is fine: it goes on
					uploads++
				case threads.OpStart:
					starts++
				}
			}
			if starts != 1 || uploads == 0 || uploads+starts != len(c.done) {
				rt.Errorf("done: %v", c.done)
			}
			for _, asked := range c.asked {
				if strings.Contains(asked, "upload") != strings.Contains(asked, "acceptIncomplete=true") {
					rt.Errorf("asked: %v", c.asked)
				}
			}
		})
	})
}

// What a phase does not allow is said in the server's words, and not tried
// again.
func TestOperationRefused(t *testing.T) {
	for _, op := range threads.Operations() {
		for _, phase := range threads.Phases() {
			c := &cloud{phase: phase}
			_, want := phase.After(op)
			_, err := c.client().Operate(t.Context(), op, threads.Wish{})
			if (err == nil) != (want == nil) || len(c.asked) != 1 {
				t.Errorf("%s in %s: %v, asked %v", op, phase, err, c.asked)
			}
			if want != nil && (!fault.Is(err, fault.Conflict) || err.Error() != want.Error()) {
				t.Errorf("%s in %s: %v, want %v", op, phase, err, want)
			}
		}
	}
}

// A preview that is being made is asked for again when the server says.
func TestPreviewIsAwaited(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		n := 0
		client := &Client{Base: "https://cloud.example.com", HTTP: doer(func(x *exchange) {
			n++
			x.header.Set("Content-Type", "application/json")
			if n < 4 {
				x.header.Set("Retry-After", "2")
				x.answer(202).say(fmt.Sprintf(`{"state":"running","done":0.%d}`, n))
				return
			}
			x.answer(200).say(`{"records":10,"errors":{"cycle":2},"totalErrors":2,"missingComments":{"count":1,"first":[9007199254740993]},"hierarchy":{"truncated":true}}`)
		})}
		began := time.Now()
		var told []float64
		p, err := client.Preview(t.Context(), func(done float64) { told = append(told, done) })
		if err != nil || p.Records != 10 || p.Errors[threads.Cycle] != 2 || p.MissingComments.First[0] != 1<<53+1 || !p.Hierarchy.Truncated {
			t.Errorf("%+v, %v", p, err)
		}
		if time.Since(began) != 6*time.Second || fmt.Sprint(told) != "[0.1 0.2 0.3]" {
			t.Errorf("it took %s, told %v", time.Since(began), told)
		}
	})
}

func TestPreviewRefused(t *testing.T) {
	client := &Client{Base: "https://cloud.example.com", HTTP: doer(func(x *exchange) {
		x.answer(400).say(`{"status-code":400,"message":"This is the issue mapping."}`)
	})}
	if _, err := client.Preview(t.Context(), nil); !fault.Is(err, fault.Invalid) || err.Error() != "This is the issue mapping." {
		t.Error(err)
	}
}

// someBackup is a backup of n issues.
func someBackup(t *testing.T, n int64) string {
	t.Helper()
	var b strings.Builder
	w, err := format.NewBackupWriter(&b, threads.EmbeddedTarget, time.Unix(1, 0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := w.Add(1000+i, threads.NewParentMap([]threads.Relation{{CommentID: 2*i + 1, ParentID: 2 * i}, {CommentID: 7000, ParentID: i}})); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// packed is text as a gzip file.
func packed(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	zip := gzip.NewWriter(&b)
	if _, err := io.WriteString(zip, text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A backup that breaks off is begun again, and only a whole one is a file.
func TestBackup(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		content, n := someBackup(t, 1000), 0
		client := &Client{Base: "https://cloud.example.com", HTTP: doer(func(x *exchange) {
			n++
			x.header.Set("Content-Type", "application/gzip")
			if n < 3 {
				x.answer(200).say(content[:len(content)/n])
				x.cut([]error{errReset, io.ErrUnexpectedEOF}[n-1])
				return
			}
			x.answer(200).say(content)
		})}
		path, read, companions := target(t)
		out, err := client.Backup(t.Context(), path, nil)
		if err != nil || out.Issues != 1000 || out.Relations != 2000 || read() != content || len(companions()) != 1 || n != 3 {
			t.Errorf("%+v, %v, %d requests, %v", out, err, n, companions())
		}
	})
}

// What is no whole backup leaves nothing behind, and what was there before as it
// was.
func TestBackupRefused(t *testing.T) {
	whole := someBackup(t, 1000)
	for name, content := range map[string]string{
		"cut":     whole[:len(whole)-30],
		"damaged": whole[:500] + "x" + whole[501:],
		"nothing": "",
		"no end":  packed(t, `{"format":"outrigger-threads-backup","version":1,"target":"embedded","createdAt":"2026-05-04T10:00:00Z"}`+"\n"),
		"a page":  "<html>",
	} {
		client := &Client{Base: "https://cloud.example.com", HTTP: doer(func(x *exchange) { x.answer(200).say(content) })}
		path, _, companions := target(t)
		_, err := client.Backup(t.Context(), path, nil)
		if !fault.Is(err, fault.Invalid) || len(companions()) != 0 {
			t.Errorf("%s: %v, %v", name, err, companions())
		}
	}
}

func TestErrors(t *testing.T) {
	for content, want := range map[string]int64{
		"issueId,commentId,parentCommentId,reason\n":                                        0,
		"issueId,commentId,parentCommentId,reason\n1,2,3,cycle\n1,3,2,cycle\n":              2,
		"issueId,commentId,parentCommentId,reason\r\n9007199254740993,2,3,no_issue_mapping": 1,
	} {
		client := &Client{Base: "https://cloud.example.com", HTTP: doer(func(x *exchange) { x.answer(200).say(content) })}
		path, read, companions := target(t)
		if n, err := client.Errors(t.Context(), path, nil); err != nil || n != want || read() != content || len(companions()) != 1 {
			t.Errorf("%q: %d, %v, %v", content, n, err, companions())
		}
	}
}

// Watching ends at once when it is stopped, wherever it is.
func TestFollowIsInterrupted(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		c := &cloud{phase: threads.PhaseProcessing}
		ctx, stop := context.WithCancel(t.Context())
		_, err := c.client().Follow(ctx, func(threads.MigrationStatus) { stop() }, threads.PhaseProcessing)
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
