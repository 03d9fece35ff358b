package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/fault"
)

// healthTime is how long a server may take to answer.
const healthTime = 5 * time.Second

type healthcheckCmd struct {
	configFlag
	Listen listenAddress `help:"Where the server listens; overrides the setting listen." placeholder:"ADDR"`
	Ready  bool          `help:"Ask whether it is ready for traffic, and not only whether it answers."`
}

// Run asks the server and prints its answer. Warnings about settings are left to the
// server.
func (c healthcheckCmd) Run(ctx context.Context, s streams) error {
	cfg, _, err := serveCmd{configFlag: c.configFlag, Listen: c.Listen}.load()
	if err != nil {
		return err
	}
	path := "/healthz"
	if c.Ready {
		path = "/readyz"
	}
	ctx, cancel := context.WithTimeout(ctx, healthTime)
	defer cancel()
	said, err := askHealth(ctx, cfg, path)
	if err == nil {
		fmt.Fprintln(s.out, said)
	}
	return err
}

// askHealth returns the first line of the answer at path, or an error if its status is
// not 200.
func askHealth(ctx context.Context, cfg *config.Config, path string) (line string, err error) {
	base, err := url.Parse(cfg.BaseURL)
	if err != nil {
		return "", err
	}
	scheme := "http"
	if cfg.TLS.Cert != "" {
		scheme = "https"
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://localhost"+strings.TrimRight(base.Path, "/")+path, nil)
	if err != nil {
		return "", err
	}
	network, address := config.SplitListen(cfg.Listen)
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		},
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, // its own certificate, which is not for localhost
		DisableKeepAlives: true,
	}}
	resp, err := client.Do(r)
	if err != nil {
		return "", fault.Wrap(err, fault.Unavailable, "The server at %s does not answer", cfg.Listen)
	}
	defer resp.Body.Close()
	first := bufio.NewScanner(resp.Body)
	first.Scan()
	if resp.StatusCode != http.StatusOK {
		return "", fault.New(fault.Unavailable, "%s: %s", resp.Status, first.Text())
	}
	return first.Text(), nil
}
