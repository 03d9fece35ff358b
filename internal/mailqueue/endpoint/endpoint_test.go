package endpoint

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"

	"outrigger/internal/egress"
	"outrigger/internal/egress/egresstest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T) egress.Doer {
	t.Helper()
	c := egresstest.Client(t)
	return c.Trusted()
}

func serve(t *testing.T, h http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// all reads an answer whole.
func all(into *string) func(io.Reader) (mailqueue.Sizes, error) {
	return func(r io.Reader) (mailqueue.Sizes, error) {
		b, err := io.ReadAll(r)
		*into = string(b)
		return mailqueue.Sizes{}, err
	}
}

func TestSignsIn(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = io.WriteString(w, strings.Join([]string{r.Method, r.Header.Get("Authorization"), r.Header.Get("Accept"), r.Header.Get("Content-Type"), string(body)}, "|"))
	})
	for _, test := range []struct {
		e    Endpoint
		q    Request
		want string
	}{
		{Endpoint{}, Request{Accept: "text/plain"}, "GET||text/plain||"},
		{Endpoint{User: "ada", Password: secret.New("x")}, Request{}, "GET|Basic YWRhOng=|||"},
		{Endpoint{Token: secret.New("otr_1")}, Request{Body: []byte("[]")}, "POST|Bearer otr_1||application/json|[]"},
	} {
		test.e.Client, test.e.URL, test.q.Max = client(t), address, 1<<10
		var got string
		if _, err := test.e.Ask(t.Context(), test.q, all(&got)); err != nil || got != test.want {
			t.Errorf("%q, %v; want %q", got, err, test.want)
		}
	}
}

// Every failure names the address, and neither its path nor its query.
func TestFailures(t *testing.T) {
	for _, test := range []struct {
		name   string
		handle http.HandlerFunc
		want   string
	}{
		{"refused", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }, "answered 401 Unauthorized."},
		{"moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"answered 302 Found: redirects are not followed, configure the address that it leads to."},
		{"empty", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }, "answered 204 No Content."},
		{"too long", func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, strings.Repeat("x", 1<<20+1))
		}, "answered with more than 1 MiB."},
		{"dropped", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, "half")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, "did not answer to the end: unexpected EOF."},
		{"closed", func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
			"did not answer: 127.0.0.1 closed the connection without an answer."},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := serve(t, test.handle)
			e := Endpoint{Client: client(t), What: "The exporter", URL: address + "/secret-path?key=hunter2"}
			var got string
			_, err := e.Ask(t.Context(), Request{Max: 1 << 20}, all(&got))
			if want := "The exporter at " + address + " " + test.want; !fault.Is(err, fault.Unavailable) || err.Error() != want {
				t.Errorf("%v\nwant %s", err, want)
			}
		})
	}
	e := Endpoint{Client: client(t), What: "The exporter", URL: "http://127.0.0.1:1/hunter2"}
	if _, err := e.Ask(t.Context(), Request{}, nil); err == nil || err.Error() != "The exporter at http://127.0.0.1:1 did not answer: the connection to 127.0.0.1 failed: connection refused." {
		t.Error(err)
	}
	e.URL = "http://\x7f"
	if _, err := e.Ask(t.Context(), Request{}, nil); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// An answer of exactly the limit is not too long.
func TestLimit(t *testing.T) {
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 100)) })
	e := Endpoint{Client: client(t), URL: address}
	var got string
	if _, err := e.Ask(t.Context(), Request{Max: 100}, all(&got)); err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := e.Ask(t.Context(), Request{Max: 99}, all(&got)); err == nil {
		t.Error("100 bytes where 99 are allowed")
	}
}

// stalled never answers.
type stalled struct{}

func (stalled) Do(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestStalled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := Endpoint{Client: stalled{}, What: "Jolokia", URL: "http://a/"}
		if _, err := e.Ask(t.Context(), Request{}, nil); err == nil || err.Error() != "Jolokia at http://a did not answer: it took longer than 5s." {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := e.Ask(ctx, Request{}, nil); err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Error(err)
		}
	})
}
