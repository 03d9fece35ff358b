package loadtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"outrigger/internal/threads/client"
)

// Ask sends a value as the user admin, and reads what a 2xx answers into another;
// nil is none.
func (p *Process) Ask(ctx context.Context, method, path string, value, into any) error {
	return Ask(ctx, p.Addr(), AdminPassword, method, path, value, into)
}

// Ask is Process.Ask of the server at an address, whose user admin has a password.
func Ask(ctx context.Context, address, password, method, path string, value, into any) error {
	var body []byte
	if value != nil {
		var err error
		if body, err = json.Marshal(value); err != nil {
			return err
		}
	}
	answer, err := ask(ctx, address, password, method, path, body)
	if err != nil || into == nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// Threads is a client of the node's threaded comments, who is the user admin.
func (p *Process) Threads() *client.Client {
	return &client.Client{
		Base: "http://" + p.Addr(), SignIn: func(r *http.Request) { r.SetBasicAuth("admin", AdminPassword) }, HTTP: http.DefaultClient,
	}
}

// ask sends a request as the user admin and gives the body of a 2xx.
func ask(ctx context.Context, address, password, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth("admin", password)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, fmt.Errorf("%s %s: %s: %.1000s", method, path, resp.Status, bytes.TrimSpace(answer))
	}
	return answer, nil
}

// Metrics are what /metrics shows, by name.
func (p *Process) Metrics(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	page, err := ask(ctx, p.Addr(), AdminPassword, http.MethodGet, "/metrics", nil)
	if err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(bytes.NewReader(page))
}

// RetryWaiting has every channel on which something waits try all of it now. It
// looks at the first 1,000 channels, those in trouble first.
func (p *Process) RetryWaiting(ctx context.Context) error {
	const path = "/rest/mtbs/1.0/configuration/channels"
	var list struct {
		Items []struct {
			Channel string
			Waiting int
		}
	}
	if err := p.Ask(ctx, http.MethodGet, path+"?limit=1000", nil, &list); err != nil {
		return err
	}
	for _, c := range list.Items {
		if c.Waiting == 0 {
			continue
		}
		if err := p.Ask(ctx, http.MethodPost, path+"/"+c.Channel+"/retry?which=all", nil, nil); err != nil {
			return err
		}
	}
	return nil
}
