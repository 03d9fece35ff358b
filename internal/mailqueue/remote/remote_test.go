package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/secret"
)

// ask asks a server that answers every request with the status and the body.
func ask(t *testing.T, status int, body string, o config.MailRemote) (mailqueue.Sizes, *http.Request, error) {
	t.Helper()
	var seen *http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	defer server.Close()
	c, err := egress.New(egress.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	o.URL = server.URL + o.URL
	sizes, err := New(c.Trusted(), o).Sizes(t.Context())
	return sizes, seen, err
}

// The example of the API's description.
func TestSizes(t *testing.T) {
	for _, o := range []config.MailRemote{
		{User: "admin", Password: secret.New("x")},
		{URL: "/outrigger/", Token: secret.New("otr_1")},
	} {
		path := strings.TrimSuffix(o.URL, "/") + "/rest/mailqueue/1.0/status"
		sizes, seen, err := ask(t, 200, `{"size":26,"errorSize":2}`, o)
		if err != nil || sizes != (mailqueue.Sizes{Size: 26, ErrorSize: 2}) {
			t.Errorf("%+v, %v", sizes, err)
		}
		if seen.URL.Path != path || seen.Header.Get("Accept") != "application/json" || seen.Header.Get("Authorization") == "" {
			t.Errorf("asked %s with %v", seen.URL, seen.Header)
		}
	}
	if sizes, _, err := ask(t, 200, ` {"size": 0, "more": [], "errorSize": 9007199254740993} `, config.MailRemote{}); err != nil || sizes.ErrorSize != 9007199254740993 {
		t.Errorf("%+v, %v", sizes, err)
	}
}

func TestFailures(t *testing.T) {
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{401, `{"status-code":401}`, "answered 401 Unauthorized."},
		{503, "", "answered 503 Service Unavailable."},
		{200, "<html>sign in</html>", "answered something that is not a mail queue."},
		{200, "", "answered something that is not a mail queue."},
		{200, `{"size":26}`, "answered something that is not a mail queue."},
		{200, `{"size":-1,"errorSize":0}`, "answered something that is not a mail queue."},
		{200, `{"size":1.5,"errorSize":0}`, "answered something that is not a mail queue."},
		{200, `{"size":99999999999999999999,"errorSize":0}`, "answered something that is not a mail queue."},
		{200, `{"size":1,"errorSize":0}{"size":1,"errorSize":0}`, "answered something that is not a mail queue."},
		{200, `{"size":"1","errorSize":null}`, "answered something that is not a mail queue."},
		{200, `{"size":1,"errorSize":0,"x":"` + strings.Repeat("x", 1<<20) + `"}`, "answered with more than 1 MiB."},
	} {
		sizes, _, err := ask(t, test.status, test.body, config.MailRemote{})
		if !fault.Is(err, fault.Unavailable) || !strings.HasPrefix(err.Error(), "The mail queue server at http://127.0.0.1:") || !strings.HasSuffix(err.Error(), test.want) {
			t.Errorf("%d %.60s: %v", test.status, test.body, err)
		}
		if sizes != (mailqueue.Sizes{}) {
			t.Errorf("%d %.60s: %+v", test.status, test.body, sizes)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(`{"size":26,"errorSize":2}`)
	f.Add(`{"size":26,"errorSize":{}}`)
	f.Fuzz(func(t *testing.T, body string) {
		if sizes, err := decode(strings.NewReader(body)); sizes.Size < 0 || sizes.ErrorSize < 0 || err != nil && sizes != (mailqueue.Sizes{}) {
			t.Errorf("%+v, %v", sizes, err)
		}
	})
}
