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
)

// ask sends a request as the user admin and gives the body of a 2xx.
func (p *Process) ask(ctx context.Context, method, path string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://"+p.Addr()+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth("admin", AdminPassword)
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
		return nil, fmt.Errorf("%s: %s", resp.Status, answer)
	}
	return answer, nil
}

// Metrics are what /metrics shows, by name.
func (p *Process) Metrics(ctx context.Context) (map[string]*dto.MetricFamily, error) {
	page, err := p.ask(ctx, http.MethodGet, "/metrics", nil)
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
	page, err := p.ask(ctx, http.MethodGet, path+"?limit=1000", nil)
	if err != nil {
		return fmt.Errorf("list channels: %w", err)
	}
	var list struct {
		Items []struct {
			Channel string
			Waiting int
		}
	}
	if err := json.Unmarshal(page, &list); err != nil {
		return fmt.Errorf("list channels: %w", err)
	}
	for _, c := range list.Items {
		if c.Waiting == 0 {
			continue
		}
		if _, err := p.ask(ctx, http.MethodPost, path+"/"+c.Channel+"/retry?which=all", nil); err != nil {
			return fmt.Errorf("retry channel %s: %w", c.Channel, err)
		}
	}
	return nil
}
