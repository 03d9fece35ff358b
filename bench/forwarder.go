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

	"outrigger/internal/loadtest"
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

// startForwarder runs the forwarder as a process of its own, as nodes are,
// with a load and a sink. The function that it gives ends it.
func startForwarder(ctx context.Context) (*subject, func(), error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		return nil, nil, err
	}
	sink, err := loadtest.NewSink(channels)
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.Command(self, "forward", addr, sink.URL())
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		sink.Close()
		return nil, nil, err
	}
	end := func() {
		cmd.Process.Kill()
		cmd.Wait()
		sink.Close()
	}
	if err := listening(ctx, addr); err != nil {
		end()
		return nil, nil, fmt.Errorf("forwarder: %w", err)
	}
	return &subject{load: loadtest.NewLoad(channels, connections, addr), sink: sink, pid: cmd.Process.Pid}, end, nil
}

// listening waits until addr accepts connections.
func listening(ctx context.Context, addr string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
		if err == nil {
			return conn.Close()
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
	}
}
