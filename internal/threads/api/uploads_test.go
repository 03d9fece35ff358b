package api

import (
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const path = "/rest/threaded-comments/1.0/migration/uploads"

// rowSize is how much of a file the store keeps in a row.
const rowSize = 1 << 20

// site is a server that takes uploads of up to 10 MiB.
type site struct {
	t      *testing.T
	store  *store.Uploads
	api    *Uploads
	db     *db.DB
	wire   *wire
	server *httptest.Server
}

func newSite(t *testing.T, d *db.DB) *site {
	t.Helper()
	s := &site{t: t, store: store.NewUploads(d), db: d}
	s.api = &Uploads{Store: s.store, Path: path, Kinds: []string{"hierarchy", "mappings"}, Max: 10 << 20}
	s.server = httptest.NewUnstartedServer(nil)
	router, err := rest.NewRouter(rest.Options{
		Identity: identitytest.Everybody(), Log: slog.New(slog.DiscardHandler), BaseURL: "http://" + s.server.Listener.Addr().String() + "/base",
	})
	if err != nil {
		t.Fatal(err)
	}
	s.api.Register(router)
	s.wire = &wire{Listener: s.server.Listener}
	s.server.Listener = s.wire
	s.server.Config.Handler = router
	s.server.Start()
	t.Cleanup(s.server.Close)
	return s
}

func each(t *testing.T, fn func(*testing.T, *site)) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, newSite(t, d)) }, audit.Migrations, store.Migrations)
}

// do sends a request as an administrator that speaks tus; headers are pairs,
// an empty value takes one away.
func (s *site) do(method, url, body string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	if strings.HasPrefix(url, "/") {
		url = s.server.URL + "/base" + url
	}
	r, err := http.NewRequestWithContext(s.t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer root")
	r.Header.Set("Tus-Resumable", "1.0.0")
	if method == http.MethodPatch {
		r.Header.Set("Content-Type", offsetType)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
		if headers[i+1] == "" {
			r.Header.Del(headers[i])
		}
	}
	res, err := s.server.Client().Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return res, string(answer)
}

func meta(kind string) string { return "kind " + base64.StdEncoding.EncodeToString([]byte(kind)) }

// create begins an upload and gives its URL.
func (s *site) create(kind string, length string, headers ...string) string {
	s.t.Helper()
	res, body := s.do("POST", path, "", append([]string{"Upload-Length", length, "Upload-Metadata", meta(kind)}, headers...)...)
	if res.StatusCode != http.StatusCreated {
		s.t.Fatal(res.Status, body)
	}
	return res.Header.Get("Location")
}

// content is what was stored of an upload.
func (s *site) content(kind string) string {
	s.t.Helper()
	u, err := s.store.Draft(s.t.Context(), kind)
	if err != nil {
		s.t.Fatal(err)
	}
	b, err := io.ReadAll(s.store.Reader(s.t.Context(), u))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(b)
}

func (s *site) offset(url string) string {
	s.t.Helper()
	res, _ := s.do("HEAD", url, "")
	return res.Header.Get("Upload-Offset")
}

func TestProtocol(t *testing.T) {
	sha1Of := func(s string) string {
		sum := sha1.Sum([]byte(s))
		return "sha1 " + base64.StdEncoding.EncodeToString(sum[:])
	}
	sha256Of := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return "sha256 " + base64.StdEncoding.EncodeToString(sum[:])
	}
	each(t, func(t *testing.T, s *site) {
		url := s.create("hierarchy", "11")
		if !strings.HasPrefix(url, s.server.URL+"/base"+path+"/") {
			t.Error("the location is not absolute:", url)
		}
		for _, step := range []struct {
			name, method, url, body string
			headers                 []string
			status                  int
			answer                  []string // header, value; "*" is any
			says                    string
		}{
			{"discovery", "OPTIONS", path, "", []string{"Authorization", "", "Tus-Resumable", ""}, 204, []string{
				"Tus-Resumable", "1.0.0", "Tus-Version", "1.0.0", "Tus-Max-Size", "10485760", "Tus-Checksum-Algorithm", "sha1,sha256",
				"Tus-Extension", "creation,creation-with-upload,checksum,expiration,termination",
			}, ""},
			{"where a new one is", "HEAD", url, "", nil, 200, []string{
				"Upload-Offset", "0", "Upload-Length", "11", "Cache-Control", "no-store", "Tus-Resumable", "1.0.0",
				"Upload-Metadata", meta("hierarchy"), "Upload-Expires", "*",
			}, ""},
			{"no version", "HEAD", url, "", []string{"Tus-Resumable", ""}, 412, []string{"Tus-Version", "1.0.0"}, ""},
			{"another version", "PATCH", url, "hello", []string{"Tus-Resumable", "0.2.2", "Upload-Offset", "0"}, 412, []string{"Tus-Version", "1.0.0"}, "tus 1.0.0"},
			{"nobody", "PATCH", url, "hello", []string{"Authorization", "", "Upload-Offset", "0"}, 401, nil, ""},
			{"a stranger", "HEAD", url, "", []string{"Authorization", "Bearer nobody"}, 403, nil, ""},
			{"a reader may look", "HEAD", url, "", []string{"Authorization", "Bearer reader"}, 200, nil, ""},
			{"a reader may not write", "PATCH", url, "hello", []string{"Authorization", "Bearer reader", "Upload-Offset", "0"}, 403, nil, ""},
			{"another type", "PATCH", url, "hello", []string{"Upload-Offset", "0", "Content-Type", "application/json"}, 415, nil, "application/offset+octet-stream"},
			{"no offset", "PATCH", url, "hello", nil, 400, nil, "Upload-Offset"},
			{"an offset that is none", "PATCH", url, "hello", []string{"Upload-Offset", "-1"}, 400, nil, "Upload-Offset"},
			{"an offset ahead", "PATCH", url, "hello", []string{"Upload-Offset", "5"}, 409, nil, "at byte 0, not at 5"},
			{"too much", "PATCH", url, "hello world!", []string{"Upload-Offset", "0"}, 413, nil, "11 bytes that are missing"},
			{"a wrong checksum", "PATCH", url, "hello", []string{"Upload-Offset", "0", "Upload-Checksum", sha1Of("hellO")}, 460, nil, "nothing was stored"},
			{"an unknown algorithm", "PATCH", url, "hello", []string{"Upload-Offset", "0", "Upload-Checksum", "md5 XUFAKrxLKna5cZ2REBfFkg=="}, 400, nil, "sha1,sha256"},
			{"a checksum that is none", "PATCH", url, "hello", []string{"Upload-Offset", "0", "Upload-Checksum", "sha1 ?"}, 400, nil, "base64"},
			{"still at the beginning", "HEAD", url, "", nil, 200, []string{"Upload-Offset", "0"}, ""},
			{"the first part", "PATCH", url, "hello", []string{"Upload-Offset", "0", "Upload-Checksum", sha1Of("hello")}, 204, []string{"Upload-Offset", "5", "Upload-Expires", "*"}, ""},
			{"the first part again", "PATCH", url, "hello", []string{"Upload-Offset", "0"}, 409, nil, "at byte 5"},
			{"nothing", "PATCH", url, "", []string{"Upload-Offset", "5"}, 204, []string{"Upload-Offset", "5"}, ""},
			{"by POST", "POST", url, " wor", []string{"X-HTTP-Method-Override", "PATCH", "Content-Type", offsetType, "Upload-Offset", "5", "Upload-Checksum", sha256Of(" wor")}, 204, []string{"Upload-Offset", "9"}, ""},
			{"HEAD by POST", "POST", url, "", []string{"X-HTTP-Method-Override", "HEAD"}, 200, []string{"Upload-Offset", "9"}, ""},
			{"POST to an upload", "POST", url, "", nil, 400, nil, "X-HTTP-Method-Override"},
			{"another of the kind", "POST", path, "", []string{"Upload-Length", "1", "Upload-Metadata", meta("hierarchy")}, 409, nil, url},
			{"one of the other kind", "POST", path, "", []string{"Upload-Length", "0", "Upload-Metadata", meta("mappings") + ", filename aWQtbWFwcGluZ3MuY3N2"}, 201, []string{"Location", "*", "Upload-Expires", "*"}, ""},
			{"the last part", "PATCH", url, "ld", []string{"Upload-Offset", "9"}, 204, []string{"Upload-Offset", "11"}, ""},
			{"more than all", "PATCH", url, "!", []string{"Upload-Offset", "11"}, 413, nil, ""},
			{"the end", "HEAD", url, "", nil, 200, []string{"Upload-Offset", "11", "Upload-Length", "11"}, ""},
			{"no length", "POST", path, "", []string{"Upload-Metadata", meta("mappings")}, 400, nil, "Upload-Length"},
			{"a length to be said later", "POST", path, "", []string{"Upload-Defer-Length", "1", "Upload-Metadata", meta("mappings")}, 400, nil, "Upload-Length"},
			{"a length beyond 64 bits", "POST", path, "", []string{"Upload-Length", "9223372036854775808", "Upload-Metadata", meta("mappings")}, 400, nil, "Upload-Length"},
			{"over the limit", "POST", path, "", []string{"Upload-Length", "10485761", "Upload-Metadata", meta("mappings")}, 413, nil, "10MiB"},
			{"parts of a file", "POST", path, "", []string{"Upload-Length", "1", "Upload-Metadata", meta("mappings"), "Upload-Concat", "partial"}, 400, nil, "not put together from several uploads"},
			{"no kind", "POST", path, "", []string{"Upload-Length", "1"}, 400, nil, "kind must be one of: hierarchy, mappings"},
			{"another kind", "POST", path, "", []string{"Upload-Length", "1", "Upload-Metadata", meta("photos")}, 400, nil, "kind must be one of"},
			{"metadata that is none", "POST", path, "", []string{"Upload-Length", "1", "Upload-Metadata", "kind ?"}, 400, nil, "base64"},
			{"with a wrong checksum", "POST", path, "x", []string{"Upload-Length", "1", "Upload-Metadata", meta("mappings"), "Content-Type", offsetType, "Upload-Checksum", sha1Of("y")}, 460, nil, ""},
			{"a body over its length", "POST", path, "xy", []string{"Upload-Length", "1", "Upload-Metadata", meta("mappings"), "Content-Type", offsetType}, 413, nil, ""},
			{"another beside one that is complete", "POST", path, "", []string{"Upload-Length", "3", "Upload-Metadata", meta("mappings")}, 409, nil,
				"A mappings file is already here and has not been loaded: id-mappings.csv from root, begun "},
			{"a replacement that is none", "POST", path, "", []string{"Upload-Length", "3", "Upload-Metadata", meta("mappings") + ",replace bm8="}, 400, nil, "replace has no value, or true"},
			{"with a first part, in its place", "POST", path, "ab", []string{"Upload-Length", "3", "Upload-Metadata", meta("mappings") + ",replace", "Content-Type", offsetType, "Upload-Checksum", sha256Of("ab")}, 201, []string{"Upload-Offset", "2", "Location", "*"}, ""},
			{"no such upload", "HEAD", path + "/999", "", nil, 404, nil, ""},
			{"no id", "PATCH", path + "/x", "", []string{"Upload-Offset", "0"}, 404, nil, "no such upload"},
			{"termination", "DELETE", url, "", nil, 204, []string{"Tus-Resumable", "1.0.0"}, ""},
			{"after it", "PATCH", url, "", []string{"Upload-Offset", "11"}, 404, nil, "Begin a new one"},
			{"again", "DELETE", url, "", nil, 404, nil, ""},
			{"GET of one", "GET", url, "", nil, 405, nil, ""},
		} {
			if step.name == "the end" {
				if got := s.content("hierarchy"); got != "hello world" {
					t.Errorf("stored %q", got)
				}
			}
			res, body := s.do(step.method, step.url, step.body, step.headers...)
			if res.StatusCode != step.status || !strings.Contains(body, step.says) {
				t.Errorf("%s: %s %s; want %d with %q", step.name, res.Status, body, step.status, step.says)
			}
			for i := 0; i < len(step.answer); i += 2 {
				got := res.Header.Get(step.answer[i])
				if want := step.answer[i+1]; got != want && (want != "*" || got == "") {
					t.Errorf("%s: %s is %q, want %q", step.name, step.answer[i], got, want)
				}
			}
		}
	})
}

func TestList(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		if _, body := s.do("GET", path, ""); body != `{"items":[]}` {
			t.Error(body)
		}
		url := s.create("mappings", "9", "Upload-Metadata", meta("mappings")+",filename aWQtbWFwcGluZ3MuY3N2")
		s.do("PATCH", url, "abc", "Upload-Offset", "0")
		_, body := s.do("GET", path, "", "Authorization", "Bearer reader", "Tus-Resumable", "")
		var list struct {
			Items []struct {
				ID                             int64
				Kind, URL, Filename, CreatedBy string
				Offset, Length                 int64
				CreatedAt, ExpiresAt           time.Time
			}
		}
		if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Items) != 1 {
			t.Fatal(body, err)
		}
		i := list.Items[0]
		if i.Kind != "mappings" || i.URL != url || i.Filename != "id-mappings.csv" || i.CreatedBy != "root" || i.Offset != 3 || i.Length != 9 || !i.ExpiresAt.After(i.CreatedAt.Add(23*time.Hour)) {
			t.Error(body)
		}
	})
}

// A file larger than a row, in one PATCH that breaks off three times: HEAD tells
// the truth, and what is stored is the file.
func TestBreakingOff(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		whole := strings.Repeat("0123456789abcdef", 5<<16) // 5 MiB
		url := s.create("hierarchy", "5242880")
		for _, upTo := range []int{1000, 1<<20 + 5, 3<<20 + 77} {
			at := s.offset(url)
			s.breakOff(url, at, whole[atoi(t, at):upTo])
			// The server stores what came as soon as it sees the connection end.
			for s.offset(url) == at {
				select {
				case <-t.Context().Done():
					t.Fatal("nothing was kept")
				default:
				}
			}
			s.settle(url, upTo)
		}
		at := s.offset(url)
		if res, body := s.do("PATCH", url, whole[atoi(t, at):], "Upload-Offset", at); res.StatusCode != 204 {
			t.Fatal(res.Status, body)
		}
		if got := s.content("hierarchy"); got != whole {
			t.Errorf("%d bytes are stored, which are not the file", len(got))
		}
	})
}

func atoi(t *testing.T, s string) int {
	var n int
	if err := json.Unmarshal([]byte(s), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

// breakOff sends a PATCH that promises everything to the end, and breaks off.
func (s *site) breakOff(url, at, body string) {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	head := "PATCH " + strings.TrimPrefix(url, s.server.URL) + " HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer root\r\nTus-Resumable: 1.0.0\r\n" +
		"Content-Type: " + offsetType + "\r\nUpload-Offset: " + at + "\r\nTransfer-Encoding: chunked\r\n\r\n"
	const size = 1 << 14
	for rest := body; rest != ""; {
		n := min(size, len(rest))
		head += strings.ToUpper(hex(n)) + "\r\n" + rest[:n] + "\r\n"
		rest = rest[n:]
	}
	if _, err := io.WriteString(conn, head); err != nil {
		s.t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		s.t.Fatal(err)
	}
}

func hex(n int) string {
	const digits = "0123456789abcdef"
	if n < 16 {
		return digits[n : n+1]
	}
	return hex(n/16) + digits[n%16:n%16+1]
}

// settle waits until everything that was sent is stored.
func (s *site) settle(url string, upTo int) {
	s.t.Helper()
	for atoi(s.t, s.offset(url)) < upTo {
		if s.t.Context().Err() != nil {
			s.t.Fatal("what was sent is not kept")
		}
	}
}

// A stop of the server ends a PATCH that would go on, and keeps what came.
func TestStop(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		url := s.create("hierarchy", "5242880")
		in, out := io.Pipe()
		defer out.Close()
		r, err := http.NewRequestWithContext(t.Context(), "PATCH", url, in)
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer root", "Tus-Resumable": "1.0.0", "Content-Type": offsetType, "Upload-Offset": "0"} {
			r.Header.Set(name, value)
		}
		answered := make(chan string, 1)
		go func() {
			res, err := s.server.Client().Do(r)
			if err != nil {
				answered <- err.Error()
				return
			}
			res.Body.Close()
			answered <- res.Status
		}()
		if _, err := out.Write(make([]byte, rowSize+100)); err != nil {
			t.Fatal(err)
		}
		s.settle(url, rowSize)
		s.api.Stop()
		if got := <-answered; !strings.HasPrefix(got, "503") {
			t.Error(got)
		}
		// The last bytes may have been on their way.
		if got := s.offset(url); got != "1048676" && got != "1048576" {
			t.Error("stored up to", got)
		}
	})
}

// Two PATCHes at the same place: each byte of the file comes from one of them.
func TestTwoAtOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		ctx := context.WithoutCancel(t.Context())
		u, err := s.store.Create(ctx, threads.Upload{Kind: "hierarchy", Length: 3 * rowSize})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 2)
		for _, c := range []string{"a", "b"} {
			go func() {
				_, err := s.store.Append(ctx, u.ID, 0, strings.NewReader(strings.Repeat(c, 3*rowSize)))
				done <- err
			}()
		}
		first, second := <-done, <-done
		if (first == nil) == (second == nil) {
			t.Error("both or neither went through:", first, second)
		}
		if got := s.content("hierarchy"); len(got) != 3*rowSize || strings.Trim(got, got[:1]) != "" {
			t.Error("the file is mixed")
		}
	})
}
