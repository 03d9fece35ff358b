// Package stored makes and checks the databases of released programs that are
// kept in testdata: what a program of that release stored, driven from outside
// against a world of its own, and what it answered about it.
package stored

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"outrigger/internal/playground"
	"outrigger/internal/playground/bitbucketcloud"
	"outrigger/internal/playground/cloudsamples"
	"outrigger/internal/playground/smarthost"
)

// The hosts of the world. The program reaches them through a proxy, so that what is
// stored names no port of the day that it was made.
const (
	ChatHost  = "chat.example.com"
	CodeHost  = "code.example.com"
	CloudHost = "cloud.example.com"

	CloudAccount = "712020:ana" // who lets the program use an account of the cloud platform
	CodeToken    = "token-of-the-code-platform"
)

// World is what a program talks to: a proxy with a chat platform and both code
// platforms behind it, and a smarthost.
type World struct {
	Mail  *smarthost.Host
	Cloud *bitbucketcloud.Platform

	code, cloud http.Handler
	proxy       *httptest.Server
	mail        net.Listener
	mu          sync.Mutex
	broken      map[string]bool
	messages    map[string]int
}

// NewWorld starts a world on free ports of this machine.
func NewWorld() (*World, error) {
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the world's smarthost: %w", err)
	}
	at := cloudsamples.Engine
	w := &World{
		Mail: smarthost.New(smarthost.Options{Keep: 1000}),
		Cloud: bitbucketcloud.New(bitbucketcloud.Options{
			Accounts: []bitbucketcloud.Account{{ID: CloudAccount, UUID: "{ana}", DisplayName: "Ana"}},
			Repositories: []bitbucketcloud.Repository{{
				Workspace: at.Workspace, Slug: at.Repository, Permissions: map[string]string{CloudAccount: "admin"},
			}},
		}),
		code: playground.NewSelfHosted(CodeToken, time.Now).Handler(),
		mail: mail, broken: map[string]bool{}, messages: map[string]int{},
	}
	w.cloud = w.Cloud.Handler()
	w.proxy = httptest.NewServer(http.HandlerFunc(w.forward))
	go w.Mail.Serve(mail) // ends with Close
	return w, nil
}

// Close ends the world.
func (w *World) Close() {
	w.proxy.CloseClientConnections()
	w.proxy.Close()
	w.Mail.Close()
}

// Proxy is the URL of the proxy.
func (w *World) Proxy() string { return w.proxy.URL }

// Smarthost is its host and port.
func (w *World) Smarthost() string { return w.mail.Addr().String() }

// forward answers in the place of the host that a request is for.
func (w *World) forward(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Host {
	case ChatHost:
		w.chat(rw, r)
	case CodeHost:
		w.code.ServeHTTP(rw, r)
	case CloudHost:
		w.cloud.ServeHTTP(rw, r)
	default:
		http.Error(rw, "this world has no "+r.URL.Host, http.StatusBadGateway)
	}
}

func (w *World) chat(rw http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return // the sender went away
	}
	channel := strings.TrimPrefix(r.URL.Path, "/channel/")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken[channel] {
		http.Error(rw, `{"error":{"code":"WorkflowNotFound"}}`, http.StatusNotFound)
		return
	}
	w.messages[channel]++
	rw.WriteHeader(http.StatusAccepted)
}

// Break has a channel refuse every message from now on.
func (w *World) Break(channel string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken[channel] = true
}

// Messages counts what arrived at each channel.
func (w *World) Messages() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.messages)
}
