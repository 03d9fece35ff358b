package app

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/identity"
	"outrigger/internal/notify/hook"
	"outrigger/internal/secret"
)

func startWithHook(t *testing.T) *App {
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "main", Kind: config.KindBitbucketDC, BaseURL: "https://code.example.com", WebhookSecret: secret.New("hook secret"),
	}}
	return start(t, cfg)
}

// Strangers who send much and stall keep no signed webhook out, though those
// come from the same address.
func TestStalledStrangersKeepNobodyOut(t *testing.T) {
	a := startWithHook(t)
	var sending sync.WaitGroup
	for _, signature := range []string{"", "X-Hub-Signature: sha256=" + strings.Repeat("0", 64) + "\r\n"} {
		for range 8 {
			sending.Go(func() { stall(t, a.Addr(), signature, 4_200_000) })
		}
	}
	sending.Wait()
	for sender := range 10 { // all of one address, which compete for its share of the memory
		sending.Go(func() {
			for n := range 10 {
				sendTaken(t, a, fmt.Sprintf("%d-%d", sender, n))
			}
		})
	}
	sending.Wait()
}

// sendTaken sends a webhook of 40 KB that must be taken.
func sendTaken(t *testing.T, a *App, id string) {
	body := fmt.Appendf(nil, `{"eventKey":"repo:forked","note":"%s %s"}`, id, strings.Repeat("x", 40_000))
	r, err := http.NewRequest("POST", a.URL()+"/hooks/main", bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Close = true
	r.Header.Set("X-Request-Id", id)
	r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New("hook secret")))
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Error(err)
		return
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Errorf("a signed webhook was answered %d", resp.StatusCode)
	}
}

// stall sends the first size bytes of a body of 10 MB on a connection of its
// own, and no more until the test ends.
func stall(t *testing.T, addr, header string, size int) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn, "POST /hooks/main HTTP/1.1\r\nHost: x\r\nX-Event-Key: repo:forked\r\n%sContent-Length: 10000000\r\n\r\n", header); err != nil {
		t.Error(err)
	}
	_ = conn.SetWriteDeadline(time.Now().Add(5 * time.Second))
	// A server that will not have it all closes the connection, which is well.
	_, _ = io.Copy(conn, io.LimitReader(endless{}, int64(size)))
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

// What happened is what the body says, which is signed, and not the header.
func TestAHeaderMakesNoOtherEvent(t *testing.T) {
	a := startWithHook(t)
	body := []byte(`{"eventKey":"pr:opened"}`)
	r, err := http.NewRequest("POST", a.URL()+"/hooks/main", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("X-Event-Key", "pr:merged")
	r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New("hook secret")))
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(answer), "pr:opened") {
		t.Errorf("answered %d %s, %v", resp.StatusCode, answer, err)
	}
}

// A signed rename moves no permission to another repository.
func TestARenameMovesNoPermission(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	renamed(t, a)
	mallory := func(r *http.Request) { r.SetBasicAuth("mallory", password) }
	for path, want := range map[string]int{"PAC&repositoryKey=vault": 403, "ATL&repositoryKey=canoe": 200} {
		if status, _ := get(t, a.URL()+"/rest/mtbs/1.0/configuration/filter?projectKey="+path, mallory); status != want {
			t.Errorf("%s: %d, want %d", path, status, want)
		}
	}
	if status, list := get(t, a.URL()+"/rest/outrigger/1.0/renames", asAdmin); status != 200 || !strings.Contains(list, `"reason":"grants"`) {
		t.Errorf("offered: %d %s", status, list)
	}
}

// renamed grants mallory ATL/canoe, and has the platform say that this is now
// PAC/vault.
func renamed(t *testing.T, a *App) {
	t.Helper()
	own := identity.Resource{Connection: "main", Project: "ATL", Repository: "canoe"}
	if _, err := a.identity.CreateUser(t.Context(), "mallory", secret.New(password)); err != nil {
		t.Fatal(err)
	}
	if _, err := a.identity.Grant(t.Context(), "mallory", identity.RepoAdmin, own); err != nil {
		t.Fatal(err)
	}
	const repository = `{"slug":%q,"name":%q,"project":{"key":%q,"name":%q}}`
	body := fmt.Appendf(nil, `{"eventKey":"repo:modified","date":"2026-01-02T03:04:05+0000","old":`+repository+`,"new":`+repository+`}`,
		"canoe", "canoe", "ATL", "ATL", "vault", "vault", "PAC", "PAC")
	r, err := http.NewRequest("POST", a.URL()+"/hooks/main", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Close = true
	r.Header.Set("X-Event-Key", "repo:modified")
	r.Header.Set(hook.SignatureHeader, hook.Sign(body, secret.New("hook secret")))
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		t.Fatalf("answered %d", resp.StatusCode)
	}
}
