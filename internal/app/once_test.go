package app

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/playground"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

// keptChat takes one message on its first connection, keeps it, and ends it
// when it has read the second: the sender cannot know whether it was posted.
func keptChat(t *testing.T) (url string, messages *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	messages = new(atomic.Int32)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				defer context.AfterFunc(t.Context(), func() { c.Close() })()
				for in := bufio.NewReader(c); ; {
					r, err := http.ReadRequest(in)
					if err != nil {
						return
					}
					if _, err := io.Copy(io.Discard, r.Body); err != nil || messages.Add(1) == 2 {
						return
					}
					if _, err := io.WriteString(c, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { _ = l.Close(); all.Wait() })
	return "http://" + l.Addr().String() + "/hook", messages
}

// One sending is one attempt and one message at the chat platform, also where a
// kept connection ends after the message was read.
func TestOneSendingIsOneMessage(t *testing.T) {
	url, messages := keptChat(t)
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)
	rule, refusal := saveRule(t, a, url)
	if refusal != "" {
		t.Fatal(refusal)
	}
	platform := &playground.Platform{HookURL: a.URL() + "/hooks/dc", Secret: "s", Clock: time.Now}
	for _, s := range samples.Samples() {
		if s.Name != "pull-request-opened" {
			continue
		}
		for n := range int64(2) {
			if status, err := platform.Post(t.Context(), s, n+1); err != nil || status != http.StatusAccepted {
				t.Fatalf("webhook: %d, %v", status, err)
			}
		}
	}
	state, reason, _ := await(t, a, rule)
	if state != "waiting" {
		t.Errorf("the channel is %s: %s", state, reason)
	}
	_, answer := get(t, a.URL()+"/rest/mtbs/1.0/configuration/deliveries", asAdmin)
	var list struct{ Items []struct{ Attempts int32 } }
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatal(err)
	}
	var attempts int32
	for _, d := range list.Items {
		attempts += d.Attempts
	}
	if n := messages.Load(); n != 2 || attempts != 2 || len(list.Items) != 2 {
		t.Errorf("%d deliveries, %d attempts, %d messages at the chat; %s", len(list.Items), attempts, n, answer)
	}
}
