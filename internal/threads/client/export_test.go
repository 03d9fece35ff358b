package client

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/threads"
)

// inBubble runs f in synctest's time, outside of which rapid's own runs.
func inBubble(t *testing.T, f func(t *testing.T)) { synctest.Test(t, f) }

func TestExportIsTheServersRecords(t *testing.T) {
	for _, n := range []int{0, 1, 999, 1000, 1001, 25_000} {
		inBubble(t, func(t *testing.T) {
			h := &hierarchy{records: someRecords(n), limit: 1000}
			path, read, companions := target(t)
			var progress []int64
			c := &Client{Base: "https://jira.example.com/base/", HTTP: doer(h.serve)}
			out, err := c.Export(t.Context(), path, func(done, total int64) {
				if total != int64(n) {
					t.Errorf("a total of %d", total)
				}
				progress = append(progress, done)
			})
			if err != nil || out != (Exported{Records: int64(n), Total: int64(n)}) {
				t.Fatalf("%+v, %v", out, err)
			}
			if read() != wholeFile(h.records) {
				t.Errorf("%d records: another file", n)
			}
			if got := companions(); len(got) != 1 {
				t.Errorf("left behind: %v", got)
			}
			if len(h.asked) != max(1, (n+999)/1000) || h.asked[0] != "offset=0&limit=10000" || progress[len(progress)-1] != int64(n) {
				t.Errorf("%d records: asked %v, told %v", n, h.asked, progress)
			}
		})
	}
}

// Whatever breaks wherever, every record is in the file once, nothing that has
// come is asked for again, and it is waited as long as the server says.
func TestExportSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(rt, "records")
		limit := rapid.IntRange(1, 100).Draw(rt, "limit")
		breaks := rapid.SliceOfN(rapid.IntRange(0, 9), 0, 9).Draw(rt, "breaks")
		where := rapid.IntRange(0, 6000).Draw(rt, "where")
		inBubble(t, func(t *testing.T) {
			h := &hierarchy{records: someRecords(n), limit: limit}
			var earliest atomic.Int64 // by the bubble's clock; each answer is another goroutine's
			h.trouble = func(i int, x *exchange, page string) bool {
				if time.Now().UnixNano() < earliest.Load() {
					t.Errorf("asked before its time")
				}
				if i >= len(breaks) {
					return false
				}
				x.header.Set("Content-Type", "application/json")
				switch at := min(where, len(page)-1); breaks[i] {
				case 0:
					x.header.Set("Retry-After", "90")
					earliest.Store(time.Now().Add(90 * time.Second).UnixNano())
					x.answer(429)
				case 1:
					x.answer(503)
				case 2: // silence, before the answer
					<-x.Context().Done()
				case 3: // and within it
					x.answer(200).say(page[:at])
					<-x.Context().Done()
				case 4:
					x.answer(200).say(page[:at])
					x.cut(errReset)
				case 5:
					x.answer(200).say(page[:at])
					x.cut(io.ErrUnexpectedEOF)
				case 6: // a proxy that ends it as if it were whole
					x.answer(200).say(page[:at])
				default:
					return false
				}
				return true
			}
			path, read, _ := target(t)
			out, err := (&Client{Base: "https://jira.example.com", HTTP: doer(h.serve)}).Export(t.Context(), path, nil)
			if err != nil || out.Changed || out.Records != int64(n) {
				rt.Errorf("%+v, %v", out, err)
			}
			if read() != wholeFile(h.records) {
				rt.Errorf("another file: %s", read())
			}
		})
	})
}

// An export that was ended goes on where it was the next time, if the server
// still has what came; what is too old, or another server's, is begun anew.
func TestExportGoesOnTheNextTime(t *testing.T) {
	for _, c := range []struct {
		name    string
		between func(h *hierarchy, part string)
		resumed bool
	}{
		{"at once", func(*hierarchy, string) {}, true},
		{"cut in a record", func(_ *hierarchy, part string) {
			info, _ := os.Stat(part)
			_ = os.Truncate(part, info.Size()-10)
		}, true},
		{"more was written meanwhile", func(h *hierarchy, _ string) {
			h.records = slices.Insert(h.records, 10, threads.Record{IssueID: 101, CommentID: 5, ParentCommentID: 4})
		}, false},
		{"another server", func(h *hierarchy, _ string) { h.records = h.records[1:] }, false},
		{"no records", func(_ *hierarchy, part string) { _ = os.WriteFile(part, []byte("something else"), 0o600) }, false},
		{"long ago", func(_ *hierarchy, part string) {
			old := time.Now().Add(-2 * partAge)
			_ = os.Chtimes(part, old, old)
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := &hierarchy{records: someRecords(5000), limit: 1000}
			ctx, stop := context.WithCancel(t.Context())
			h.trouble = func(n int, _ *exchange, _ string) bool {
				if n == 3 {
					stop()
				}
				return n == 3
			}
			path, read, companions := target(t)
			client := &Client{Base: "https://jira.example.com", HTTP: doer(h.serve)}
			if out, err := client.Export(ctx, path, nil); err == nil || out.Records != 3000 {
				t.Fatalf("%+v, %v", out, err)
			}
			if got := fmt.Sprint(companions()); got != "[out.part]" {
				t.Errorf("there is %s", got)
			}
			c.between(h, path+".part")
			h.trouble, h.asked = nil, nil
			out, err := client.Export(t.Context(), path, nil)
			if err != nil || out.Records != int64(len(h.records)) || (out.Resumed > 2990) != c.resumed {
				t.Errorf("%+v, %v", out, err)
			}
			if read() != wholeFile(h.records) {
				t.Error("another file")
			}
		})
	}
}

func TestExportRefused(t *testing.T) {
	for _, c := range []struct {
		status            int
		contentType, body string
		want              string
	}{
		{401, "application/json", `{"status-code":401,"message":"Client must be authenticated to access this resource."}`, "user or password (401)"},
		{403, "text/html", "<p>", "The server refuses this (403); sign in as an administrator."},
		{403, "application/json", `{"status-code":403,"message":"Confirm with the passkey first."}`, "Confirm with the passkey first."},
		{401, "application/json", `{"status-code":401,"message":"The password has expired."}`, "The password has expired."},
		{404, "text/html", "<p>", "There is nothing at https://jira.example.com/rest/threaded-comments/1.0/migration/export-data"},
		{400, "application/json", `{"message":"Two things.","errors":[{"field":"a","message":"A."},{"field":"b","message":"B."}]}`, "Two things. a: A. b: B."},
		{418, "text/plain", "no coffee", "the server answered 418 I'm a teapot: no coffee"},
		{200, "text/html;charset=UTF-8", "<p>", "answered with a web page"},
		{200, "application/json", `[{"issueId":1,"commentId":2,"parentCommentId":1}]`, "export page"},
		{200, "application/json", `{"offset":0,"data":[{"issueId":1}],"hasMore":false,"totalCount":1}`, "an entry that is no record"},
		{200, "application/json", `{"offset":0,"data":[],"hasMore":true,"totalCount":1}`, "gives nothing at offset 0"},
		{200, "application/json", `{"offset":0,"data":[{"issueId":1,"commentId":2,"parentCommentId":1}],"hasMore":true,"totalCount":0}`, "more records than the 0"},
	} {
		inBubble(t, func(t *testing.T) {
			path, _, _ := target(t)
			asked := 0
			client := &Client{Base: "https://jira.example.com", HTTP: doer(func(x *exchange) {
				asked++
				x.header.Set("Content-Type", c.contentType)
				x.answer(c.status).say(c.body)
			})}
			_, err := client.Export(t.Context(), path, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || asked != 1 {
				t.Errorf("%d %s: asked %d times, %v", c.status, c.body, asked, err)
			}
		})
	}
}

// A server that does not come back is given up, after some minutes.
func TestExportGivesUp(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		path, _, _ := target(t)
		began := time.Now()
		var notices []string
		c := &Client{
			Base: "https://jira.example.com", HTTP: doer(func(x *exchange) { x.answer(502) }),
			Notice: func(text string) { notices = append(notices, text) },
		}
		_, err := c.Export(t.Context(), path, nil)
		if err == nil || !strings.Contains(err.Error(), "gave up after 10 tries: the server answered 502 Bad Gateway") {
			t.Errorf("got %v", err)
		}
		if took := time.Since(began); took < time.Minute || took > 5*time.Minute || len(notices) != 9 {
			t.Errorf("after %s: %q", took, notices)
		}
	})
}

// A total that changes says so: the file may lack records.
func TestExportOfWhatChanges(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		h := &hierarchy{records: someRecords(2500), limit: 1000}
		h.trouble = func(n int, _ *exchange, _ string) bool {
			if n == 1 {
				h.records = append(h.records, threads.Record{IssueID: 9999, CommentID: 99999, ParentCommentID: 1})
			}
			return false
		}
		path, _, _ := target(t)
		out, err := (&Client{Base: "https://jira.example.com", HTTP: doer(h.serve)}).Export(t.Context(), path, nil)
		if err != nil || !out.Changed || out.Total != 2501 {
			t.Errorf("%+v, %v", out, err)
		}
	})
}

// A server whose pages repeat gives some records again and others never: its
// export is refused, and there is no file.
func TestExportOfPagesThatRepeat(t *testing.T) {
	records := someRecords(200)
	for name, from := range map[string]func(offset int) int{
		"always the first page": func(int) int { return 0 },
		"each page twice":       func(offset int) int { return offset / 100 * 50 },
		"the first page again":  func(offset int) int { return offset % 150 },
	} {
		inBubble(t, func(t *testing.T) {
			h := &hierarchy{records: records, limit: 50}
			h.trouble = func(_ int, x *exchange, _ string) bool {
				offset, _ := strconv.Atoi(x.URL.Query().Get("offset"))
				page := h.page(from(offset), 50)
				page = page[:strings.LastIndex(page, `"hasMore"`)] + fmt.Sprintf(`"hasMore":%v,"totalCount":200}`, offset < 150)
				x.header.Set("Content-Type", "application/json")
				x.answer(200).say(page)
				return true
			}
			path, _, _ := target(t)
			_, err := (&Client{Base: "https://jira.example.com", HTTP: doer(h.serve)}).Export(t.Context(), path, nil)
			if err == nil || !strings.Contains(err.Error(), "the same records again at offset") {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s: the file is there", name)
			}
		})
	}
}

// A server that says itself that a page is another one than was asked for, or
// whose total grows for ever, is not followed.
func TestExportOfPagesThatAreOthers(t *testing.T) {
	const most = 1000
	for _, c := range []struct {
		name string
		page func(offset int) string
		want string
	}{
		{"another offset", func(offset int) string {
			if offset == 0 {
				return tail(0, 0, 50, true, 200)
			}
			return tail(0, offset, 50, true, 200)
		}, "The server gives its page at offset 0 where that at offset 50 was asked for"},
		{"the offset behind the data", func(offset int) string {
			page := tail(7, offset, 50, true, 200)
			return "{" + strings.TrimPrefix(page, `{"offset":7,`)[:len(page)-len(`{"offset":7,`)-1] + `,"offset":7}`
		}, "The server gives its page at offset 7 where that at offset 0 was asked for"},
		{"more than the total", func(offset int) string { return tail(offset, offset, 50, true, 120) }, "gives more records than the 120"},
		{"a total that grows", func(offset int) string { return tail(offset, offset, 50, true, offset+100) }, "The total that the server says has grown 10 times, from 100 to 600, and there is always more"},
	} {
		inBubble(t, func(t *testing.T) {
			asked := 0
			path, _, _ := target(t)
			_, err := (&Client{Base: "https://jira.example.com", HTTP: doer(func(x *exchange) {
				offset, _ := strconv.Atoi(x.URL.Query().Get("offset"))
				if asked++; asked > most {
					x.answer(410)
					return
				}
				x.header.Set("Content-Type", "application/json")
				x.answer(200).say(c.page(offset))
			})}).Export(t.Context(), path, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: asked %d times, %v", c.name, asked, err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Errorf("%s: the file is there", c.name)
			}
		})
	}
}

// tail is a page that says an offset and has n records of its own from another
// one on.
func tail(says, from, n int, more bool, total int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"offset":%d,"data":[`, says)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"issueId":1,"commentId":%d,"parentCommentId":1}`, 10+from+i)
	}
	fmt.Fprintf(&b, `],"hasMore":%v,"totalCount":%d}`, more, total)
	return b.String()
}

// Entries without a parent are no records, and count in the server's offsets.
func TestExportPassesRootsOver(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		pages := []string{
			`{"offset":0,"data":[{"issueId":1,"commentId":1},{"issueId":1,"commentId":2,"parentCommentId":1}],"hasMore":true,"totalCount":4}`,
			`{"offset":2,"data":[{"issueId":1,"commentId":3,"parentCommentId":null},{"issueId":1,"commentId":4,"parentCommentId":1}],"hasMore":false,"totalCount":4}`,
		}
		var asked []string
		path, read, _ := target(t)
		out, err := (&Client{Base: "https://jira.example.com", HTTP: doer(func(x *exchange) {
			asked = append(asked, x.URL.Query().Get("offset"))
			x.answer(200).say(pages[len(asked)-1])
		})}).Export(t.Context(), path, nil)
		want := wholeFile([]threads.Record{{IssueID: 1, CommentID: 2, ParentCommentID: 1}, {IssueID: 1, CommentID: 4, ParentCommentID: 1}})
		if err != nil || out.Changed || read() != want || fmt.Sprint(asked) != "[0 2]" {
			t.Errorf("%+v, %v, asked %v: %s", out, err, asked, read())
		}
	})
}

// A server that says why it has nothing to export is asked for a minute, and
// its reason is the error; one that only does not answer, for longer.
func TestUnreadableSourceIsNotAwaited(t *testing.T) {
	for _, c := range []struct {
		body  string
		after string
		takes time.Duration
		says  string
	}{
		{`{"status-code":503,"message":"The hierarchy was not mirrored: no such database."}`, "10", time.Minute, "gave up after 1m0s: the server answered 503 Service Unavailable: The hierarchy was not mirrored: no such database."},
		{`{"status-code":503,"message":"It is away."}`, "3600", time.Minute, "It is away."},
		{"", "10", 90 * time.Second, "gave up after 10 tries"},
	} {
		inBubble(t, func(t *testing.T) {
			client := &Client{Base: "https://jira.example.com", HTTP: doer(func(x *exchange) {
				x.header.Set("Retry-After", c.after)
				x.answer(503).say(c.body)
			})}
			path, _, _ := target(t)
			began := time.Now()
			_, err := client.Export(t.Context(), path, nil)
			if err == nil || !strings.Contains(err.Error(), c.says) || time.Since(began) != c.takes {
				t.Errorf("%s after %s: %v", c.body, time.Since(began), err)
			}
			if _, err := os.Stat(path); err == nil {
				t.Error("there is a file")
			}
		})
	}
}
