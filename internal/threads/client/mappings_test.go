package client

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// report plays a server of the id mappings report.
type report struct {
	text    string
	etag    string
	making  int // how many more answers are 202
	after   string
	trouble func(n int, x *exchange, text string) (answered bool)
	asked   []string
	ranges  []string
}

func (r *report) serve(x *exchange) {
	n := len(r.asked)
	r.asked = append(r.asked, x.URL.RawQuery)
	r.ranges = append(r.ranges, x.Header.Get("Range"))
	if r.making > 0 {
		r.making--
		if r.after != "" {
			x.header.Set("Retry-After", r.after)
		}
		x.answer(202)
		return
	}
	x.header.Set("Content-Type", "text/csv;charset=UTF-8")
	text, status := r.text, 200
	if r.etag != "" {
		x.header.Set("ETag", r.etag)
		from, ok := strings.CutPrefix(x.Header.Get("Range"), "bytes=")
		if ok && x.Header.Get("If-Range") == r.etag {
			at, _ := strconv.Atoi(strings.TrimSuffix(from, "-"))
			if at >= len(text) {
				x.header.Set("Content-Range", fmt.Sprintf("bytes */%d", len(text)))
				x.answer(416)
				return
			}
			text, status = text[at:], 206
			x.header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", at, len(r.text)-1, len(r.text)))
		}
	}
	if r.trouble != nil && r.trouble(n, x, text) {
		return
	}
	x.header.Set("Content-Length", strconv.Itoa(len(text)))
	x.answer(status).say(text)
}

func someReport(n int) string {
	var b strings.Builder
	b.WriteString("entityType,serverId,cloudId\n")
	for i := range n {
		fmt.Fprintf(&b, "jira:comment,%d,%d\n", 1000+i, 7*i)
	}
	return b.String()
}

func (r *report) client() *Client {
	return &Client{Base: "https://jira.example.com", HTTP: doer(r.serve)}
}

// While the report is made it is asked again when the server says, else every
// 10 s; only the first time from no cache.
func TestReportIsAwaited(t *testing.T) {
	for after, wait := range map[string]time.Duration{"": 30 * time.Second, "2": 6 * time.Second} {
		inBubble(t, func(t *testing.T) {
			r := &report{text: someReport(100_000), making: 3, after: after}
			path, read, companions := target(t)
			began := time.Now()
			var told int64
			out, err := r.client().IDMappings(t.Context(), "https://x.example/", true, path, func(done, size int64) {
				if size != int64(len(r.text)) {
					t.Errorf("a size of %d", size)
				}
				told = done
			})
			if err != nil || out != (Reported{Bytes: int64(len(r.text)), Lines: 100_000}) || told != out.Bytes {
				t.Fatalf("%+v, %v", out, err)
			}
			if read() != r.text || len(companions()) != 1 {
				t.Errorf("another file, beside %v", companions())
			}
			if time.Since(began) != wait {
				t.Errorf("it took %s", time.Since(began))
			}
			want := "[cloudSiteUrl=https%3A%2F%2Fx.example%2F&invalidateCache=true" + strings.Repeat(" cloudSiteUrl=https%3A%2F%2Fx.example%2F", 3) + "]"
			if got := fmt.Sprint(r.asked); got != want {
				t.Errorf("asked %s", got)
			}
		})
	}
}

// Whatever breaks wherever, the file is the report, byte by byte, whether the
// server can go on in the middle or not, and also where it makes another one.
func TestReportSurvives(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(0, 200).Draw(rt, "mappings")
		etag := rapid.SampledFrom([]string{"", `"7"`, `W/"7"`}).Draw(rt, "etag")
		breaks := rapid.SliceOfN(rapid.IntRange(0, 8), 0, 9).Draw(rt, "breaks")
		where := rapid.IntRange(0, 3000).Draw(rt, "where")
		inBubble(t, func(t *testing.T) {
			r := &report{text: someReport(n), etag: etag}
			r.trouble = func(i int, x *exchange, text string) bool {
				if i >= len(breaks) {
					return false
				}
				at := min(where, len(text))
				status := 200
				if x.header.Get("Content-Range") != "" {
					status = 206
				}
				switch breaks[i] {
				case 0:
					x.answer(500)
				case 1:
					x.answer(status).say(text[:at])
					x.cut(io.ErrUnexpectedEOF)
				case 2:
					x.answer(status).say(text[:at])
					x.cut(errReset)
				case 3:
					x.answer(status).say(text[:at])
					<-x.Context().Done()
				case 4: // a new report, with another ETag
					r.text, r.etag = someReport(n + 1)[:28]+"jira:issue,1,2\n"+someReport(n)[28:], ""
					x.answer(status).say(text[:at])
					x.cut(errReset)
				case 5:
					x.header.Set("Content-Range", "bytes 5-9/10")
					x.answer(206).say("?????")
				default:
					return false
				}
				return true
			}
			path, read, _ := target(t)
			out, err := r.client().IDMappings(t.Context(), "https://x.example", false, path, nil)
			if err != nil || read() != r.text || out.Lines != int64(strings.Count(r.text, "\n")-1) {
				rt.Errorf("%+v, %v: %d bytes of %d", out, err, len(read()), len(r.text))
			}
		})
	})
}

// A download that was ended goes on the next time, as far as it is the same.
func TestReportGoesOnTheNextTime(t *testing.T) {
	for _, same := range []bool{true, false} {
		r := &report{text: someReport(50_000)}
		ctx, stop := context.WithCancel(t.Context())
		r.trouble = func(_ int, x *exchange, text string) bool {
			x.answer(200).say(text[:500_000])
			stop()
			return true
		}
		path, read, _ := target(t)
		if _, err := r.client().IDMappings(ctx, "https://x.example", false, path, nil); err == nil {
			t.Fatal("it was not ended")
		}
		part, err := os.Stat(path + ".part")
		if err != nil || part.Size() == 0 {
			t.Fatalf("%v, %v", part, err)
		}
		if !same {
			r.text = someReport(49_999)[:28] + "jira:issue,5,6\n" + r.text[28:]
		}
		r.trouble = nil
		out, err := r.client().IDMappings(t.Context(), "https://x.example", false, path, nil)
		if err != nil || read() != r.text || (out.Resumed == part.Size()) != same {
			t.Errorf("same %v: %+v, %v", same, out, err)
		}
	}
}

func TestReportRefused(t *testing.T) {
	for _, c := range []struct {
		status            int
		contentType, body string
		want              string
	}{
		{400, "text/plain", "No migrationScopeId found for the cloudSiteUrl https://x.example", "No migrationScopeId found for the cloudSiteUrl https://x.example"},
		{401, "", "", "user or password (401)"},
		{200, "text/html", "<p>", `answered with "text/html" instead of CSV`},
		{200, "application/json", "{}", "instead of CSV"},
		{200, "text/csv", "serverId,cloudId\n1,2\n", `begins with "serverId,cloudId`},
		{200, "text/csv", "entityType,serverId,cloudIdentity\n", "begins with"},
		{200, "text/csv", "", "begins with"},
	} {
		inBubble(t, func(t *testing.T) {
			path, _, companions := target(t)
			asked := 0
			client := &Client{Base: "https://jira.example.com", HTTP: doer(func(x *exchange) {
				asked++
				x.header.Set("Content-Type", c.contentType)
				x.answer(c.status).say(c.body)
			})}
			_, err := client.IDMappings(t.Context(), "https://x.example", false, path, nil)
			if err == nil || !strings.Contains(err.Error(), c.want) || asked != 1 || fmt.Sprint(companions()) != "[out.part]" {
				t.Errorf("%d %s: asked %d times, %v, %v", c.status, c.body, asked, err, companions())
			}
		})
	}
}

// Lines may end as Windows ends them.
func TestReportLineEnds(t *testing.T) {
	for _, text := range []string{"entityType,serverId,cloudId\n", "entityType,serverId,cloudId\r\n", "entityType,serverId,cloudId\r\njira:issue,1,2\r\n"} {
		inBubble(t, func(t *testing.T) {
			r := &report{text: text}
			path, read, _ := target(t)
			out, err := r.client().IDMappings(t.Context(), "https://x.example", false, path, nil)
			if err != nil || read() != text || out.Lines != int64(strings.Count(text, "jira")) {
				t.Errorf("%q: %+v, %v", text, out, err)
			}
		})
	}
}

// A report that is cut anywhere is not saved as if it were whole: a server that
// cut its own copy inside a line, an answer that is shorter than it says, and
// one that says no length and whose connection ends anywhere.
func TestCutReportIsNotSaved(t *testing.T) {
	whole := someReport(3)
	for at := len("entityType,serverId,cloudId"); at < len(whole); at++ {
		if whole[at-1] == '\n' {
			continue // its own copy, cut between lines, is a report
		}
		inBubble(t, func(t *testing.T) {
			path, _, companions := target(t)
			r := &report{text: whole[:at]}
			if _, err := r.client().IDMappings(t.Context(), "https://x.example", false, path, nil); err == nil || !strings.Contains(err.Error(), "its last line has no end") {
				t.Errorf("%d bytes: %v", at, err)
			}
			if got := fmt.Sprint(companions()); got != "[out.part]" {
				t.Errorf("%d bytes: there is %s", at, got)
			}
		})
	}
	for at := range whole {
		for _, length := range []string{strconv.Itoa(len(whole)), ""} {
			inBubble(t, func(t *testing.T) {
				path, read, _ := target(t)
				r := &report{text: whole}
				r.trouble = func(n int, x *exchange, text string) bool {
					if n > 0 && length != "" {
						return false
					}
					if length != "" {
						x.header.Set("Content-Length", length)
					}
					if n > 0 {
						at = len(text)
					}
					x.answer(200).say(text[:at])
					return true
				}
				_, err := r.client().IDMappings(t.Context(), "https://x.example", false, path, nil)
				if saved := read(); err == nil && saved != whole || err != nil && strings.HasPrefix(saved, "entity") {
					t.Errorf("%d bytes, length %q: %v\n%s", at, length, err, saved)
				}
			})
		}
	}
}
