package cloudsite

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ask asks a site as ann.
func ask(h http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "/rest/api/3/issue/"+path, strings.NewReader(body))
	r.SetBasicAuth("ann@example.com", "right")
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestTheAPI(t *testing.T) {
	s := New(Options{
		User: "ann@example.com", Token: "right",
		Missing:  func(issue int64) bool { return issue == 404 },
		ReadOnly: func(issue int64) bool { return issue == 403 },
	})
	h := s.Handler()
	long := strings.Repeat("x", maxValue-2)
	for i, test := range []struct {
		method, path, body string
		status             int
		answer             string // its beginning
	}{
		{"GET", "7/properties", "", 200, `{"keys":[]}`},
		{"GET", "7/properties/a", "", 404, `{"errorMessages":["The property with key a does not exist."],"errors":{}}`},
		{"PUT", "7/properties/a", `{"x": 1}`, 201, `{}`},
		{"PUT", "7/properties/a", `[2]`, 200, `{}`},
		{"PUT", "7/properties/b.1", `null`, 201, `{}`},
		{"GET", "7/properties/a", "", 200, `{"key":"a","value":[2]}`},
		{"GET", "7/properties", "", 200, `{"keys":[{"key":"a"},{"key":"b.1"}]}`},
		{"GET", "8/properties", "", 200, `{"keys":[]}`},
		{"DELETE", "7/properties/a", "", 204, ""},
		{"DELETE", "7/properties/a", "", 404, `{"errorMessages":["The property`},
		{"PUT", "7/properties/a", ``, 400, `{"errorMessages":["The value is no valid, non-empty JSON."]`},
		{"PUT", "7/properties/a", `{"x"`, 400, `{"errorMessages":["The value is no valid`},
		{"PUT", "7/properties/a", "\"\xff\"", 400, `{"errorMessages":["The value is no valid`},
		{"PUT", "7/properties/a", `"` + long + `"`, 201, ``},
		{"PUT", "7/properties/a", `"` + strings.ReplaceAll(long, "x", "é") + `"`, 200, ``},
		{"PUT", "7/properties/a", `"` + long + `x"`, 400, `{"errorMessages":["The value is longer than 32768 characters."]`},
		{"PUT", "7/properties/" + strings.Repeat("k", 256), `1`, 400, `{"errorMessages":["The key is longer than 255 characters."]`},
		{"GET", "404/properties", "", 404, `{"errorMessages":["Issue does not exist or you do not have permission to see it."]`},
		{"PUT", "404/properties/a", `1`, 404, `{"errorMessages":["Issue does not exist`},
		{"PUT", "0/properties/a", `1`, 404, `{"errorMessages":["Issue does not exist`},
		{"GET", "ATL-1/properties", "", 404, `{"errorMessages":["Issue does not exist`},
		{"GET", "403/properties", "", 200, `{"keys":[]}`},
		{"PUT", "403/properties/a", `1`, 403, `{"errorMessages":["You do not have permission to edit`},
		{"POST", "7/properties/a", `1`, 405, ``},
	} {
		if w := ask(h, test.method, test.path, test.body); w.Code != test.status || !strings.HasPrefix(w.Body.String(), test.answer) {
			t.Errorf("%d: %s %s: %d %s", i, test.method, test.path, w.Code, w.Body)
		}
	}
	if _, ok := s.Property(7, "b.1"); !ok || !slices.Equal(s.Keys(7), []string{"a", "b.1"}) || !slices.Equal(s.Issues(), []int64{7}) || s.Writes(7) < 5 || s.Writes(9) != 0 {
		t.Error("it has", s.Keys(7), s.Issues(), s.Writes(7))
	}
	for name, edit := range map[string]func(*http.Request){
		"another type": func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") },
		"nobody":       func(r *http.Request) { r.Header.Del("Authorization") },
		"wrong":        func(r *http.Request) { r.SetBasicAuth("ann@example.com", "wrong") },
	} {
		r := httptest.NewRequest("PUT", "/rest/api/3/issue/7/properties/c", strings.NewReader("1"))
		r.SetBasicAuth("ann@example.com", "right")
		r.Header.Set("Content-Type", "application/json")
		edit(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if want := map[bool]int{true: 415, false: 401}[name == "another type"]; w.Code != want {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Options{Limits: Documented()})
		h := s.Handler()
		limited := func(method, path string) (n int, last http.Header) {
			for range 60 {
				if w := ask(h, method, path, "1"); w.Code == 429 {
					n, last = n+1, w.Header()
				}
			}
			return n, last
		}
		for i := range 50 { // of the endpoint, to many issues
			if w := ask(h, "PUT", strconv.Itoa(100+i)+"/properties/a", "1"); w.Code != 201 {
				t.Fatalf("request %d: %d", i, w.Code)
			}
		}
		n, header := limited("PUT", "7/properties/a")
		if n != 60 || header.Get("RateLimit-Reason") != burstReason || header.Get("Retry-After") != "1" || header.Get("X-RateLimit-Limit") != "50" ||
			header.Get("X-RateLimit-Remaining") != "0" || header.Get("X-RateLimit-Reset") != "2000-01-01T00:00:01Z" {
			t.Errorf("%d were limited by %v", n, header)
		}
		if n, _ := limited("GET", "7/properties"); n != 0 {
			t.Errorf("%d of another endpoint were limited", n)
		}
		<-time.After(time.Minute)
		n, header = limited("DELETE", "7/properties/a")
		if n != 40 || header.Get("RateLimit-Reason") != burstReason && header.Get("RateLimit-Reason") != issueReason {
			t.Errorf("%d to one issue were limited by %v", n, header)
		}
		for range 4 { // 20 in each 2 s are 100 in 8 s
			<-time.After(2 * time.Second)
			if n, header = limited("DELETE", "7/properties/a"); n != 40 || header.Get("RateLimit-Reason") != issueReason && header.Get("RateLimit-Reason") != burstReason {
				t.Errorf("%d were limited by %v", n, header)
			}
		}
		<-time.After(2 * time.Second)
		w := ask(h, "DELETE", "7/properties/a", "")
		if w.Code != 429 || w.Header().Get("RateLimit-Reason") != issueReason || w.Header().Get("Retry-After") != "20" {
			t.Errorf("after 100 in 10 s: %d %v", w.Code, w.Header())
		}
		if c := s.Counts(); c.Limited < 200 {
			t.Errorf("%+v", c)
		}
	})
}

func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(Options{Limits: Limits{Quota: 10}}).Handler()
		for i := range 10 {
			w := ask(h, "GET", "7/properties", "")
			if near := w.Header().Get("X-RateLimit-NearLimit") == "true"; w.Code != 200 || near != (i >= 8) {
				t.Errorf("request %d: %d %v", i, w.Code, w.Header())
			}
		}
		<-time.After(20 * time.Minute)
		w := ask(h, "GET", "7/properties", "")
		if w.Code != 429 || w.Header().Get("RateLimit-Reason") != quotaReason || w.Header().Get("Retry-After") != "2400" || w.Header().Get("X-RateLimit-Reset") != "2000-01-01T01:00:00Z" {
			t.Errorf("%d %v", w.Code, w.Header())
		}
		<-time.After(40 * time.Minute)
		if w := ask(h, "GET", "7/properties", ""); w.Code != 200 {
			t.Errorf("in the next hour: %d", w.Code)
		}
	})
}

// In each mode, what a PUT is answered, and whether it was done.
func TestFaultModes(t *testing.T) {
	s := New(Options{})
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	put := func(limit time.Duration) (int, http.Header, error) {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		defer cancel()
		r, _ := http.NewRequestWithContext(ctx, "PUT", server.URL+"/rest/api/3/issue/7/properties/a", strings.NewReader("1"))
		r.Header.Set("Content-Type", "application/json")
		resp, err := server.Client().Do(r)
		if err != nil {
			return 0, nil, err
		}
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return resp.StatusCode, resp.Header, err
	}
	for _, test := range []struct {
		mode   FaultMode
		status int // 0: no answer
		done   bool
	}{
		{Works, 201, true}, {TooOften, 429, false}, {Spent, 429, false}, {Fails, 500, false}, {Away, 503, false}, {Silent, 0, false},
		{Drops, 0, false}, {Loses, 0, true}, {Locked, 401, false}, {Expired, 404, false}, {Forbids, 403, false},
	} {
		ask(s.Handler(), "DELETE", "7/properties/a", "")
		s.SetFaultMode(test.mode, 1)
		limit := time.Minute
		if test.mode == Silent {
			limit = 200 * time.Millisecond
		}
		status, header, err := put(limit)
		_, done := s.Property(7, "a")
		if status != test.status || (err == nil) != (status > 0) || done != test.done {
			t.Errorf("%s: %d, %v; done: %v", test.mode, status, err, done)
		}
		if test.mode == Spent && (header.Get("Retry-After") != "" || header.Get("X-RateLimit-Reset") == "") {
			t.Errorf("spent: %v", header)
		}
		if test.mode == Silent && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if m, left := s.FaultMode(); test.mode != Works && (m != Works || left != 0) {
			t.Errorf("after one request it is %s, for %d more", m, left)
		}
		s.SetFaultMode(Works, 0)
	}
	s.SetFaultMode(Fails, 2)
	s.SetFaultMode("no such mode", 1)
	s.SetFaultMode(Locked, -1)
	if m, left := s.FaultMode(); m != Fails || left != 2 {
		t.Errorf("it is %s, for %d", m, left)
	}
	if len(FaultModes()) != len(faultModes) {
		t.Error("a mode is not listed")
	}
}

func TestParents(t *testing.T) {
	s := New(Options{})
	for key, value := range map[string]string{
		Threads: `{"v":1,"generation":2,"first":4,"parts":2,"relations":2,"sha256":"…"}`, Threads + ".1": `{"generation":1,"part":1,"parents":{"9":"8"}}`,
		Threads + ".4": `{"generation":2,"part":4,"parents":{"2":"1"}}`, Threads + ".5": `{"generation":2,"part":5,"parents":{"3":"2"}}`,
	} {
		s.SetProperty(7, key, value)
	}
	if p, err := s.Parents(7); err != nil || len(p) != 2 || p["3"] != "2" || p["2"] != "1" {
		t.Error(p, err)
	}
	s.SetProperty(7, Threads+".5", `{"generation":1,"part":5,"parents":{"3":"2"}}`)
	if _, err := s.Parents(7); err == nil || err.Error() != "parts of the map are missing" {
		t.Error(err)
	}
	s.SetProperty(8, Threads, `[`)
	if _, err := s.Parents(8); err == nil || !strings.HasPrefix(err.Error(), "outrigger.threads cannot be read") {
		t.Error(err)
	}
	if p, err := s.Parents(9); p != nil || err != nil {
		t.Error(p, err)
	}
}

func TestTree(t *testing.T) {
	show := func(parents map[string]string) (string, int) {
		roots, more := tree(parents)
		text, err := json.Marshal(roots)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(`"ID":`, "", `,"Replies":null`, "", `"Replies":`, "").Replace(string(text)), more
	}
	if got, more := show(map[string]string{"3": "2", "2": "1", "10": "2", "5": "4"}); got != `[{"1",[{"2",[{"3"},{"10"}]}]},{"4",[{"5"}]}]` || more != 0 {
		t.Error(got, more)
	}
	if got, more := show(map[string]string{"3": "4", "4": "3"}); got != "null" || more != 2 {
		t.Error("a cycle:", got, more)
	}
	long := map[string]string{}
	for i := range 150 {
		long[strconv.Itoa(1000+i)] = strconv.Itoa(999 + i)
	}
	if got, more := show(long); strings.Count(got, "[") != maxDepth+1 || more != 150-maxDepth {
		t.Errorf("%d deep, %d more", strings.Count(got, "["), more)
	}
}
