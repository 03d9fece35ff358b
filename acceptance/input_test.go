package acceptance

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/loadtest"
)

const (
	mib = 1 << 20
	// mostMemory is what senders can make a node hold: the 64 MiB that
	// it gives to bodies being read, their copies as they grow, and what the
	// garbage collector has not found yet. A hundred bodies at once would be
	// more than three times that without a bound.
	mostMemory = 320 * mib
)

// request is what a sender posts to a node's hook.
type request struct {
	hook   string // empty: the connection's own
	header http.Header
	body   []byte
	length int64 // what Content-Length claims, where it is not the body's; -1: chunked
}

// signed is an event as the platform sends it.
func signed(body []byte) request {
	return request{body: body, header: http.Header{
		"Content-Type":    {"application/json; charset=utf-8"},
		"X-Event-Key":     {loadtest.EventKey},
		"X-Hub-Signature": {loadtest.Signature(body)},
	}}
}

// with is the request with another header; an empty value removes it.
func (r request) with(name, value string) request {
	r.header = r.header.Clone()
	r.header.Del(name)
	if value != "" {
		r.header[name] = []string{value}
	}
	return r
}

// post writes the request while it reads the answer, so that a node may
// answer before it has read all: then the rest is never written.
func post(ctx context.Context, p *loadtest.Process, r request) (int, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", p.Addr())
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
	}
	hook := r.hook
	if hook == "" {
		hook = loadtest.Connection
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "POST /hooks/%s HTTP/1.1\r\nHost: node\r\nConnection: close\r\n", hook)
	for name, values := range r.header {
		fmt.Fprintf(&head, "%s: %s\r\n", name, values[0])
	}
	var written sync.WaitGroup
	defer written.Wait()
	switch {
	case r.length < 0:
		fmt.Fprintf(&head, "Transfer-Encoding: chunked\r\n\r\n")
	case r.length > 0:
		fmt.Fprintf(&head, "Content-Length: %d\r\n\r\n", r.length)
	default:
		fmt.Fprintf(&head, "Content-Length: %d\r\n\r\n", len(r.body))
	}
	written.Go(func() {
		conn.Write(head.Bytes()) // what matters is the answer
		if r.length < 0 {
			fmt.Fprintf(conn, "%x\r\n", len(r.body))
			conn.Write(r.body)
			io.WriteString(conn, "\r\n0\r\n\r\n")
			return
		}
		conn.Write(r.body)
	})
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0, err
	}
	conn.Close() // ends the writing, where it still goes on
	return resp.StatusCode, nil
}

// send posts r and gives the status of the answer.
func send(t *testing.T, p *loadtest.Process, r request) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	status, err := post(ctx, p, r)
	if err != nil {
		t.Fatal(err)
	}
	return status
}

// sendAll posts n requests at once and counts the answers by status. A
// connection that breaks without an answer counts as 0.
func sendAll(t *testing.T, p *loadtest.Process, n int, r func(i int) request) map[int]int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var mu sync.Mutex
	counts := map[int]int{}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			status, _ := post(ctx, p, r(i))
			mu.Lock()
			defer mu.Unlock()
			counts[status]++
		})
	}
	wg.Wait()
	return counts
}

func eventually(t *testing.T, limit time.Duration, ok func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// badInput is the table of what a sender gets, and ways to deserve each.
func badInput() map[string]struct {
	request request
	want    int
} {
	good := loadtest.NewBody(0).Append(nil, 1)
	signature := loadtest.Signature(good)
	truncated := good[:len(good)/2]
	notUTF8 := bytes.Replace(good, []byte("Jane Doe"), []byte("Jane \xff\xfe\xc0"), 1)
	nested := []byte(`{"eventKey":"pr:opened","pullRequest":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`)
	hundred := []byte(strings.Repeat(`[`, 100) + strings.Repeat(`]`, 100))
	huge := bytes.Repeat([]byte(" "), 100*mib)
	chunked := signed(huge[:11*mib])
	chunked.length = -1
	claimed := signed(good)
	claimed.length = 100 * mib

	type entry = struct {
		request request
		want    int
	}
	cases := map[string]entry{
		"100 MiB":                    {request{body: huge, header: http.Header{"X-Event-Key": {loadtest.EventKey}}}, 413},
		"100 MiB, only claimed":      {claimed, 413},
		"11 MiB, chunked":            {chunked, 413},
		"10 MiB and a byte":          {signed(huge[:10*mib+1]), 413},
		"10 MiB of nothing":          {signed(huge[:10*mib]), 400},
		"cut off":                    {signed(truncated), 400},
		"empty":                      {signed(nil), 400},
		"not JSON":                   {signed([]byte("payload=%7B%7D")), 400},
		"two documents":              {signed([]byte(`{} {}`)), 400},
		"not UTF-8":                  {signed(notUTF8), 400},
		"nested 100,000 deep":        {signed(nested), 400},
		"nested 101 deep":            {signed([]byte("[" + string(hundred) + "]")), 400},
		"nested 100 deep":            {signed(hundred), 202},
		"unknown connection":         {request{hook: "nobody", body: good, header: signed(good).header}, 404},
		"unknown hook":               {request{hook: loadtest.Connection + "/nobody", body: good, header: signed(good).header}, 404},
		"an event key of the future": {signed([]byte(`{"eventKey":"pr:teleported"}`)).with("X-Event-Key", "pr:teleported"), 202},
		"a body of another shape":    {signed([]byte(`{"pullRequest":[1,2,3]}`)), 202},
		"JSON that is no object":     {signed([]byte(`null`)), 202},
		"another content type":       {signed(loadtest.NewBody(0).Append(nil, 2)).with("Content-Type", "text/plain"), 202},
		"no content type":            {signed(loadtest.NewBody(0).Append(nil, 3)).with("Content-Type", ""), 202},
		"an impossible content type": {signed(loadtest.NewBody(0).Append(nil, 4)).with("Content-Type", "////;;;="), 202},
		"a ping, unsigned":           {request{body: []byte(`{"test": true}`), header: http.Header{"X-Event-Key": {"diagnostics:ping"}}}, 200},
		"a test without a key":       {request{body: []byte(`{"test": true}`)}, 200},
	}
	cases["headers of 2 MiB"] = entry{signed(good).with("X-Hub-Signature", strings.Repeat("a", 2*mib)), 431}
	digest := strings.TrimPrefix(signature, "sha256=")
	for name, value := range map[string]string{
		"missing":              "",
		"wrong":                "sha256=" + strings.Repeat("0", 64),
		"of another body":      loadtest.Signature(truncated),
		"only the name":        "sha256",
		"no digest":            "sha256=",
		"no name":              digest,
		"another name":         "sha1=" + digest,
		"a name in capitals":   "SHA256=" + digest,
		"six characters":       "sha256"[:6],
		"an odd digit":         signature[:len(signature)-1],
		"half a digest":        "sha256=" + digest[:32],
		"a digit too many":     signature + "0",
		"twice":                signature + "," + signature,
		"not hexadecimal":      "sha256=" + strings.Repeat("zz", 32),
		"not ASCII":            "sha256=" + strings.Repeat("é", 32),
		"with a space":         "sha256= " + digest,
		"in base64":            "sha256=3q2+7w==",
		"far too long":         "sha256=" + strings.Repeat("a", 4000),
		"a separator, nothing": "=",
	} {
		cases["signature "+name] = entry{signed(good).with("X-Hub-Signature", value), 401}
	}
	return cases
}

// TestBadInput posts everything that a hook may meet. Each gets its status,
// none a panic, and the node holds no more memory than its limits explain.
func TestBadInput(t *testing.T) {
	t.Parallel()
	sink := newSink(t, 2)
	p := node(t, loadtest.Settings{})
	start(t, p)
	if err := p.SaveChannelRules(t.Context(), 2, sink.URL()); err != nil {
		t.Fatal(err)
	}
	for name, tt := range badInput() {
		t.Run(name, func(t *testing.T) {
			if got := send(t, p, tt.request); got != tt.want {
				t.Errorf("status %d, want %d", got, tt.want)
			}
		})
	}

	t.Run("1,000 times the same at once", func(t *testing.T) {
		r := signed(loadtest.NewBody(1).Append(nil, 1)).with("X-Request-Id", "the-same")
		counts := sendAll(t, p, 1000, func(int) request { return r })
		if counts[202] != 1000 {
			t.Errorf("answers by status: %v, want 202 for each", counts)
		}
		// The channel's next event comes after every repeat would have.
		if got := send(t, p, signed(loadtest.NewBody(1).Append(nil, 2))); got != 202 {
			t.Fatalf("status %d", got)
		}
		eventually(t, time.Minute, func() bool {
			arrivals := sink.Arrivals(1)
			return len(arrivals) > 0 && arrivals[len(arrivals)-1].Seq == 2
		})
		if arrivals := sink.Arrivals(1); len(arrivals) != 2 || arrivals[0].Seq != 1 {
			t.Errorf("arrived: %v, want events 1 and 2, each once", arrivals)
		}
	})

	t.Run("1,000 bad ones at once", func(t *testing.T) {
		truncated := loadtest.NewBody(0).Append(nil, 9)[:2000]
		large := bytes.Repeat([]byte(" "), mib)
		kinds := []struct {
			request request
			want    int
		}{
			{signed(truncated), 400},
			{signed(truncated).with("X-Hub-Signature", "sha256=00"), 401},
			{request{body: truncated, length: 100 * mib}, 413},
			{signed(large).with("X-Hub-Signature", ""), 401},
		}
		want := map[int]int{}
		for i := range 1000 {
			want[kinds[i%len(kinds)].want]++
		}
		got := sendAll(t, p, 1000, func(i int) request { return kinds[i%len(kinds)].request })
		if !maps.Equal(got, want) {
			t.Errorf("answers by status: %v, want %v", got, want)
		}
	})

	t.Run("100 of the largest at once, unsigned", func(t *testing.T) {
		r := request{body: bytes.Repeat([]byte(" "), 10*mib), header: http.Header{"X-Event-Key": {loadtest.EventKey}}}
		counts := sendAll(t, p, 100, func(int) request { return r })
		if counts[401]+counts[503] != 100 {
			t.Errorf("answers by status: %v, want 401, or 503 where it is too much at once", counts)
		}
	})

	t.Run("and then", func(t *testing.T) {
		if got := send(t, p, signed(loadtest.NewBody(0).Append(nil, 10))); got != 202 {
			t.Errorf("a good event got %d", got)
		}
		eventually(t, time.Minute, func() bool {
			arrivals := sink.Arrivals(0)
			return len(arrivals) > 0 && arrivals[len(arrivals)-1].Seq == 10
		})
		if arrivals := sink.Arrivals(0); len(arrivals) == 0 || arrivals[len(arrivals)-1].Seq != 10 {
			t.Errorf("arrived: %v, want event 10 last", arrivals)
		}
		peak, err := loadtest.PeakResident(p.PID())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("the node never held more than %d MiB", peak/mib)
		if peak > mostMemory {
			t.Errorf("the node held %d MiB, more than %d", peak/mib, mostMemory/mib)
		}
	})
}
