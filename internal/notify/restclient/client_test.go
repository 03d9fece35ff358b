package restclient

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// doer answers without a platform.
type doer func(*http.Request) *http.Response

func (d doer) Do(r *http.Request) (*http.Response, error) {
	if resp := d(r); resp != nil {
		return resp, nil
	}
	return nil, errors.New("no answer")
}

func answer(status int, body string, header ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(header); i += 2 {
		h.Set(header[i], header[i+1])
	}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body))}
}

func request(account string) Request {
	return Request{
		Platform: "main", Account: AccountOf(account), Method: http.MethodGet, URL: "https://x.example/",
		Authorize: func(*http.Request) {}, Explain: func(r *Refusal, body []byte) { r.Words = string(body) },
	}
}

// An account is not asked before its pause is over, others are, and pauses that
// are over are forgotten.
func TestPauses(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	asked := 0
	resp := func() *http.Response { return answer(429, "", "Retry-After", "90") }
	cl := New(doer(func(*http.Request) *http.Response { asked++; return resp() }), func() time.Time { return now })
	for i, c := range []struct {
		account string
		after   time.Duration
		asked   int
		wait    time.Duration
	}{
		{"ana", 0, 1, 90 * time.Second},
		{"ana", 30 * time.Second, 1, 60 * time.Second},
		{"ben", 0, 2, 90 * time.Second},
		{"ana", 59 * time.Second, 2, time.Second},
		{"ana", time.Second, 3, 90 * time.Second},
		{"cia", 90 * time.Second, 4, 90 * time.Second},
	} {
		now = now.Add(c.after)
		err := cl.Do(t.Context(), request(c.account))
		if asked != c.asked || !fault.Is(err, fault.Unavailable) || fault.As(err).RetryAfter != c.wait {
			t.Errorf("%d: asked %d times, %v after %s", i, asked, err, fault.As(err).RetryAfter)
		}
	}
	if len(cl.pauses) != 1 {
		t.Errorf("%d pauses are kept", len(cl.pauses))
	}
	if err := cl.Fresh().Do(t.Context(), request("cia")); err == nil || asked != 5 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	resp = func() *http.Response { return answer(200, "{}") }
	now = now.Add(90 * time.Second)
	if err := cl.Do(t.Context(), request("cia")); err != nil {
		t.Error(err)
	}
}

func TestHowLongAPauseIs(t *testing.T) {
	for _, c := range []struct {
		status int
		header []string
		own    time.Duration // what the platform's client says
		want   time.Duration
	}{
		{429, nil, 0, time.Minute},
		{429, []string{"Retry-After", "0"}, 0, time.Second},
		{429, []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "45"}, 0, 45 * time.Second},
		{503, []string{"Retry-After", "5"}, 0, 5 * time.Second},
		{503, nil, 0, 0},
		{500, []string{"Retry-After", "5"}, 0, 0},
		{401, nil, 10 * time.Minute, 10 * time.Minute},
		{404, []string{"Retry-After", "5"}, 0, 0},
	} {
		cl := New(doer(func(*http.Request) *http.Response { return answer(c.status, "", c.header...) }), nil)
		q := request("ana")
		q.Explain = func(r *Refusal, _ []byte) { r.Pause = c.own }
		if err := cl.Do(t.Context(), q); fault.As(err).RetryAfter != c.want {
			t.Errorf("%d %v: %s", c.status, c.header, fault.As(err).RetryAfter)
		}
	}
}

// What a platform repeats of what it was sent is masked.
func TestHidden(t *testing.T) {
	cl := New(doer(func(*http.Request) *http.Response { return answer(400, "No s3cret, no t0ken.\r\nAt all.") }), nil)
	q := request("ana")
	q.Hidden = []secret.Value{secret.New("s3cret"), {}, secret.New("t0ken")}
	err := cl.Do(t.Context(), q)
	if want := "The platform of main answers 400 Bad Request, No ••••, no ••••.  At all."; fault.As(err).Message != want {
		t.Errorf("%v", err)
	}
	// As it stands in a form, in an address, and among the credentials of Basic.
	cl = New(doer(func(r *http.Request) *http.Response {
		return answer(400, "a%2Fb+c, a%2Fb%20c, "+r.Header.Get("Authorization"))
	}), nil)
	q.Hidden, q.Authorize = []secret.Value{secret.New("a/b c")}, func(r *http.Request) { r.SetBasicAuth("key", "a%2Fb+c") }
	if err := cl.Do(t.Context(), q); fault.As(err).Message != "The platform of main answers 400 Bad Request, ••••, ••••, Basic ••••." {
		t.Errorf("%v", err)
	}
	if r := RefusalOf(err); r == nil || r.Status != 400 || StatusOf(err) != 400 || StatusOf(errors.New("x")) != 0 {
		t.Errorf("%+v", r)
	}
}
