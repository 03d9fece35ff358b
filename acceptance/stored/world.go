// Package stored makes and checks the databases of released programs that are
// kept in testdata: what a program of that release stored, driven from outside
// against a world of its own, and what it answered about it.
package stored

import (
	"fmt"
	"io"
	"net"
	"net/http"
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
	codeHost  = "code.example.com"
	cloudHost = "cloud.example.com"

	account  = "712020:ana" // who lets the program use an account of the cloud platform
	consumer = "consumer-key"
	secret   = "consumer-secret"
	token    = "token-of-the-code-platform"
)

// NoProxy is a proxy that is not there: what goes out waits behind it.
const NoProxy = "http://127.0.0.1:9"

// World is what a program talks to: a proxy with a chat platform and both code
// platforms behind it, and a smarthost.
type World struct {
	Mail *smarthost.Host
	code http.Handler

	cloud       *bitbucketcloud.Platform
	server      *http.Server
	proxy, mail net.Listener
	mailServed  chan struct{}
	mu          sync.Mutex
	broken      map[string]bool
	messages    map[string][]string
	cloudPages  http.Handler
}

// NewWorld starts a world on free ports of this machine.
func NewWorld() (*World, error) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("the world's proxy: %w", err)
	}
	mail, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		proxy.Close()
		return nil, fmt.Errorf("the world's smarthost: %w", err)
	}
	at := cloudsamples.Engine
	w := &World{
		Mail: smarthost.New(smarthost.Options{Keep: 1000}), code: playground.NewSelfHosted(token, time.Now).Handler(),
		cloud: bitbucketcloud.New(bitbucketcloud.Options{
			Accounts: []bitbucketcloud.Account{{ID: account, UUID: "{ana}", DisplayName: "Ana"}},
			Repositories: []bitbucketcloud.Repository{{
				Workspace: at.Workspace, Slug: at.Repository, Permissions: map[string]string{account: "admin"},
			}},
		}),
		proxy: proxy, mail: mail, mailServed: make(chan struct{}), broken: map[string]bool{}, messages: map[string][]string{},
	}
	w.cloudPages = w.cloud.Handler()
	w.server = &http.Server{Handler: http.HandlerFunc(w.forward)}
	go w.server.Serve(proxy) // ends with Close
	go func() {
		defer close(w.mailServed)
		_ = w.Mail.Serve(mail) // ends with Close
	}()
	return w, nil
}

// Close ends the world.
func (w *World) Close() {
	w.server.Close()
	w.Mail.Close()
	w.mail.Close()
	<-w.mailServed
}

// Proxy is the URL of the proxy.
func (w *World) Proxy() string { return "http://" + w.proxy.Addr().String() }

// Smarthost is its host and port.
func (w *World) Smarthost() string { return w.mail.Addr().String() }

// forward answers in the place of the host that a request is for.
func (w *World) forward(rw http.ResponseWriter, r *http.Request) {
	switch r.URL.Host {
	case ChatHost:
		w.chat(rw, r)
	case codeHost:
		w.code.ServeHTTP(rw, r)
	case cloudHost:
		w.cloudPages.ServeHTTP(rw, r)
	default:
		http.Error(rw, "this world has no "+r.URL.Host, http.StatusBadGateway)
	}
}

func (w *World) chat(rw http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the sender went away
	}
	channel := strings.TrimPrefix(r.URL.Path, "/channel/")
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken[channel] {
		http.Error(rw, `{"error":{"code":"WorkflowNotFound"}}`, http.StatusNotFound)
		return
	}
	w.messages[channel] = append(w.messages[channel], string(body))
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
	counts := map[string]int{}
	for channel, all := range w.messages {
		counts[channel] = len(all)
	}
	return counts
}
