package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// cardSize is how much of a body the forwarder sends on: about what a card is.
const cardSize = 2 << 10

// forward is the program that everything is held against: it takes a webhook,
// posts the first 2 KiB of it to the sink, and keeps nothing.
func forward(listen, sink string) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections}}
	return http.ListenAndServe(listen, forwarder(client, sink))
}

func forwarder(client *http.Client, sink string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		_, rest, _ := strings.Cut(r.Header.Get("X-Request-Id"), "-")
		channel, _, _ := strings.Cut(rest, "-")
		card := body[:min(len(body), cardSize)]
		resp, err := client.Post(sink+"/channel/"+channel, "application/json", bytes.NewReader(card))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		io.Copy(io.Discard, resp.Body) // so that the connection can be used again
		resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
	})
}

// startForwarder runs the forwarder as a process of its own, as nodes are.
func startForwarder(ctx context.Context, sink string) (addr string, cmd *exec.Cmd, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	addr = l.Addr().String()
	if err := l.Close(); err != nil {
		return "", nil, err
	}
	cmd = exec.Command(self, "forward", addr, sink)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return addr, cmd, conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			cmd.Process.Kill()
			cmd.Wait()
			return "", nil, fmt.Errorf("forwarder: %w", err)
		}
	}
}
