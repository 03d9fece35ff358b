package oidc

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"

	gooidc "github.com/coreos/go-oidc/v3/oidc"

	"outrigger/internal/egress"
)

// maxAnswer is many times a key set or an ID token with hundreds of groups.
const maxAnswer = 1 << 20

// transport sends every request of the libraries by egress.
type transport struct {
	issuer        *url.URL
	issued, named egress.Doer
}

// RoundTrip keeps an answer's body within maxAnswer.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	by := t.named
	if req.URL.Scheme == t.issuer.Scheme && req.URL.Host == t.issuer.Host {
		by = t.issued
	}
	resp, err := by.Do(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &bounded{ReadCloser: resp.Body, left: maxAnswer}
	return resp, nil
}

// withClient has the libraries use the transport, and follow no redirect.
func (p *Provider) withClient(ctx context.Context) context.Context {
	return gooidc.ClientContext(ctx, &http.Client{
		Transport:     p.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
}

// bounded fails where a body goes on after so many bytes.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(into []byte) (int, error) {
	if b.left < 0 {
		return 0, fmt.Errorf("the answer is longer than %d bytes", maxAnswer)
	}
	n, err := b.ReadCloser.Read(into[:min(len(into), b.left+1)])
	b.left -= n
	return n, err
}
