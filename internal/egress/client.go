// Package egress is outgoing HTTP: where it may go, how long it may take, and
// what errors may say about it.
//
// A webhook may go to public addresses, by https. Loopback, private,
// link-local, metadata and every other special range of RFC 6890 is refused
// when the connection is dialled, after its name was resolved, unless the
// Policy names it; plain http is for what the Policy names. Hosts that a
// SYS_ADMIN configures are not under this rule: see Client.Trusted.
//
// Redirects are not followed: a 3xx is an answer like any other. No proxy is
// used, also where the process's environment (HTTPS_PROXY …) names one: a
// proxy would resolve names where the guard cannot see it.
package egress

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"outrigger/internal/fault"
)

// Timeout is how long a request may take, from resolving the name to the last
// byte of the answer's body.
const Timeout = 10 * time.Second

const (
	// Idle connections kept for one host and in all. Every channel of a
	// tenant is on one host, and 256 sends at once should find theirs open.
	idlePerHost, idleConns = 256, 1024
	// The most connections to one host: slow answers on it may take that many
	// sockets, and no more.
	connsPerHost = 1024
	// The proxies of chat platforms close idle connections after a minute or
	// more; a channel at 1 message a second keeps its own.
	idleTime = 60 * time.Second
	// Each way's buffer of a webhook's request: most messages take one write,
	// and answers are short. What is longer passes it by.
	connBuffer = 2 << 10
	// Answers have a few hundred bytes of headers.
	maxAnswerHeaders = 64 << 10
)

// Options are what a Client needs. The zero value is a strict one.
type Options struct {
	Policy   Policy
	CAFile   string        // PEM certificates to trust besides the system's; "" for none
	Version  string        // for the User-Agent
	Resolver *net.Resolver // nil for the system's
}

// Client makes outgoing requests. It is safe for concurrent use.
type Client struct {
	policy  *policy
	webhook *Caller
	trusted *Caller
	patient *Caller
}

// New makes a Client. It refuses an entry of Policy.Allowed or a CAFile that
// cannot be understood.
func New(o Options) (*Client, error) {
	p, err := o.Policy.parse()
	if err != nil {
		return nil, err
	}
	roots, err := Roots(o.CAFile)
	if err != nil {
		return nil, err
	}
	dialer := net.Dialer{Timeout: Timeout, Resolver: o.Resolver}
	agent := "Outrigger"
	if o.Version != "" {
		agent += "/" + o.Version
	}
	secure := &guard{policy: p, dialer: dialer}
	plain := &guard{policy: p, dialer: dialer, plaintext: true}
	free := newTransport(roots, dialer.DialContext)
	config := tlsConfig(roots)
	config.NextProtos = []string{"http/1.1"}
	return &Client{
		policy:  p,
		webhook: &Caller{secure: newDirect(secure.dial, config), plain: newDirect(plain.dial, nil), agent: agent},
		trusted: &Caller{secure: free, plain: free, agent: agent},
		patient: &Caller{secure: free, plain: free, agent: agent, patient: true},
	}, nil
}

// Webhook is for URLs that users give: every address is judged.
func (c *Client) Webhook() *Caller { return c.webhook }

// Trusted is for hosts that a SYS_ADMIN configures: platforms, the cloud site.
// It goes anywhere, by http too.
func (c *Client) Trusted() *Caller { return c.trusted }

// Patient is Trusted without a limit of time: for downloads that take long,
// whose caller notices when nothing comes any more.
func (c *Client) Patient() *Caller { return c.patient }

// Close closes the connections that are kept open.
func (c *Client) Close() {
	for _, caller := range []*Caller{c.webhook, c.trusted} {
		caller.secure.CloseIdleConnections()
		caller.plain.CloseIdleConnections()
	}
}

func tlsConfig(roots *x509.CertPool) *tls.Config {
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

func newTransport(roots *x509.CertPool, dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	// HTTP/1.1 only: all channels of one host would share one HTTP/2
	// connection, and wait for one another when it stalls.
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &http.Transport{
		DialContext:            dial,
		Protocols:              protocols,
		TLSClientConfig:        tlsConfig(roots),
		TLSHandshakeTimeout:    Timeout,
		MaxIdleConns:           idleConns,
		MaxIdleConnsPerHost:    idlePerHost,
		MaxConnsPerHost:        connsPerHost,
		IdleConnTimeout:        idleTime,
		MaxResponseHeaderBytes: maxAnswerHeaders,
		DisableCompression:     true, // answers are read up to 2 KiB; none may unfold
	}
}

// Roots is the system's certificates and those of file, as ca_file names it;
// nil, which is the system's, without a file.
func Roots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "ca_file cannot be read.")
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("reading the system's certificates: %w", err)
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fault.New(fault.Invalid, "ca_file %s holds no certificate in PEM.", file)
	}
	return roots, nil
}

// Caller sends requests. Its errors never hold the path or the query of a URL,
// which may be secrets.
type Caller struct {
	secure, plain transport
	agent         string
	patient       bool // the caller watches over the time
}

type transport interface {
	http.RoundTripper
	CloseIdleConnections()
}

// NewRequest is http.NewRequestWithContext with an error that does not quote
// the URL.
func NewRequest(ctx context.Context, method, url string, body io.Reader) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "The stored URL is not a URL.")
	}
	return req, nil
}

// Do sends a request and gives the answer, whatever its status; it follows no
// redirect. A request without a User-Agent gets ours. Timeout holds for all of
// it, unless the Caller is Patient. The caller closes the answer's body. An
// address that may not be dialled is an ErrRefused; the end of the request's
// own context stays recognisable with errors.Is.
func (c *Caller) Do(req *http.Request) (*http.Response, error) {
	transport := c.secure
	if req.URL.Scheme == "http" {
		transport = c.plain
	}
	ctx, cancel := c.limited(req.Context())
	out := req.WithContext(ctx)
	if out.Header == nil {
		out.Header = http.Header{}
	}
	if out.Header.Get("User-Agent") == "" {
		out.Header.Set("User-Agent", c.agent)
	}
	resp, err := transport.RoundTrip(out)
	if err != nil {
		cancel()
		return nil, describe(req, err)
	}
	resp.Body = &body{ReadCloser: resp.Body, cancel: cancel}
	return resp, nil
}

func (c *Caller) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.patient {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, Timeout)
}

// body ends the request's time limit when it is closed.
type body struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (b *body) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}
