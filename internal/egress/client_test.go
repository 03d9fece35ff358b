package egress

import (
	"bufio"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secretPath = "/workflows/SECRETPATH/invoke?sig=SECRETQUERY"

func post(t *testing.T, c *Caller, url string) (*http.Response, error) {
	t.Helper()
	req, err := NewRequest(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Do(req)
	if err == nil {
		t.Cleanup(func() { _ = resp.Body.Close() })
	} else if strings.Contains(err.Error(), "SECRET") {
		t.Errorf("the error shows the URL: %v", err)
	}
	return resp, err
}

func TestLoopbackIsRefusedUnlessAllowed(t *testing.T) {
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	if _, err := post(t, newClient(t, Options{}).Webhook(), server.URL+secretPath); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "127.0.0.0/8 (loopback, RFC 1122)") {
		t.Errorf("loopback: %v", err)
	}
	if hits.Load() != 0 {
		t.Fatal("the refused request came through")
	}
	allowed := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.0/8"}}, Version: "1.2.3"})
	for name, c := range map[string]*Caller{"allowed": allowed.Webhook(), "trusted": newClient(t, Options{}).Trusted()} {
		if resp, err := post(t, c, server.URL+secretPath); err != nil || resp.StatusCode != 200 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRequestIsSentAsItIs(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	type seen struct{ uri, agent, host, body, encoding string }
	got := make(chan seen, 1)
	var conns atomic.Int32
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- seen{r.RequestURI, r.UserAgent(), r.Host, string(body), r.Header.Get("Accept-Encoding")}
	}))
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	server.Start()
	defer server.Close()
	c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}, Version: "1.2.3"})
	for range 5 {
		resp, err := post(t, c.Webhook(), server.URL+"/a%2Fb?sp=%2Ftriggers&sig=x")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		want := seen{"/a%2Fb?sp=%2Ftriggers&sig=x", "Outrigger/1.2.3", server.Listener.Addr().String(), "{}", ""}
		if s := <-got; s != want {
			t.Errorf("sent %+v, want %+v", s, want)
		}
	}
	if n := conns.Load(); n != 1 {
		t.Errorf("5 requests in a row took %d connections", n)
	}
}

func TestRedirectIsAnAnswer(t *testing.T) {
	for _, location := range []string{"http://127.0.0.1:1/", "/elsewhere", "http://%zz/", ""} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/elsewhere" {
				t.Error("the redirect was followed")
			}
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		}))
		c := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}})
		if resp, err := post(t, c.Webhook(), server.URL+secretPath); err != nil || resp.StatusCode != http.StatusTemporaryRedirect {
			t.Errorf("Location %q: %v, %v", location, resp, err)
		}
		c.Close()
		server.Close()
	}
}

func TestCAFile(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the handshake that fails
	server.StartTLS()
	defer server.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	policy := Policy{Allowed: []string{"127.0.0.1"}}
	if resp, err := post(t, newClient(t, Options{Policy: policy, CAFile: file}).Webhook(), server.URL+secretPath); err != nil || resp.ProtoMajor != 1 {
		t.Errorf("with ca_file: %v", err)
	}
	if _, err := post(t, newClient(t, Options{Policy: policy}).Webhook(), server.URL+secretPath); err == nil || !strings.Contains(err.Error(), "certificate of 127.0.0.1 is not trusted") {
		t.Errorf("without ca_file: %v", err)
	}
	for _, bad := range []string{filepath.Join(t.TempDir(), "none.pem"), "client_test.go"} {
		if _, err := New(Options{CAFile: bad}); err == nil {
			t.Errorf("%s was taken", bad)
		}
	}
}

// Faulty servers: no error shows the path or the query, whatever comes back.
func TestErrorsSayWhatFailedAndNotTheURL(t *testing.T) {
	for name, c := range map[string]struct {
		scheme string
		serve  func(net.Conn)
		says   string
	}{
		"echo":       {"http", func(c net.Conn) { _, _ = io.CopyN(c, c, 60) }, "127.0.0.1 did not answer in HTTP"},
		"closes":     {"http", func(c net.Conn) { _, _ = bufio.NewReader(c).ReadString('\n') }, "127.0.0.1 "},
		"plain http": {"https", func(c net.Conn) { _, _ = fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, "127.0.0.1 does not speak TLS"},
		"half":       {"http", func(c net.Conn) { _, _ = fmt.Fprint(c, "HTTP/1.1 2") }, "127.0.0.1 "},
		"flood":      {"http", func(c net.Conn) { _, _ = io.CopyN(c, endless{}, 1<<20) }, "127.0.0.1 "},
	} {
		t.Run(name, func(t *testing.T) {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			served := make(chan struct{})
			go func() {
				defer close(served)
				if conn, err := listener.Accept(); err == nil {
					c.serve(conn)
					_ = conn.Close()
				}
			}()
			client := newClient(t, Options{Policy: Policy{Allowed: []string{"127.0.0.1"}}})
			if _, err := post(t, client.Webhook(), c.scheme+"://"+listener.Addr().String()+secretPath); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			_ = listener.Close()
			<-served
			if _, err := post(t, client.Webhook(), c.scheme+"://"+listener.Addr().String()+secretPath); err == nil || !strings.Contains(err.Error(), "connection refused") {
				t.Errorf("nobody listens: %v", err)
			}
		})
	}
	if _, err := NewRequest(t.Context(), "POST", "https://host/%zzSECRET", nil); err == nil || strings.Contains(err.Error(), "SECRET") {
		t.Errorf("NewRequest: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	copy(p, "HTTP/1.1 200 OK\r\nX: ")
	return len(p), nil
}

// silent makes a Caller whose host takes everything and answers nothing.
func silent(t *testing.T) *Caller {
	transport := newTransport(nil, func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, theirs) }()
		return ours, nil
	})
	t.Cleanup(transport.CloseIdleConnections)
	proxies, err := newProxies()
	if err != nil {
		t.Fatal(err)
	}
	return &Caller{secure: transport, plain: transport, proxies: proxies, limit: Timeout}
}

func TestTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := post(t, silent(t), "http://slow.example"+secretPath)
		if err == nil || err.Error() != "slow.example did not answer within 10s" {
			t.Errorf("got %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		req, _ := NewRequest(ctx, "POST", "http://slow.example"+secretPath, nil)
		if _, err := silent(t).Do(req); !errors.Is(err, context.Canceled) {
			t.Errorf("an ended context gave %v", err)
		}
	})
}

// A Unlimited Caller waits as long as its caller does.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := silent(t)
		c.limit = 0
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		req, _ := NewRequest(ctx, "GET", "http://slow.example"+secretPath, nil)
		if _, err := c.Do(req); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Hour {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
	})
}
