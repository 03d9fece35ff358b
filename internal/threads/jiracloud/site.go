package jiracloud

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/egress"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
)

const (
	// maxProperty is how much of an answer about one property is read: its
	// value, should the site escape every character of it, and what is around.
	maxProperty = 6*maxValue + 4096
	// maxList is the same for the list of an issue's properties, which other
	// apps have too: some thousands of them.
	maxList = 1 << 20
)

// site asks the issue property API.
type site struct {
	base    string
	user    string
	token   secret.Value
	client  egress.Doer
	pace    *pace
	timeout time.Duration // of one request
	clock   func() time.Time
	metrics *metrics
}

func newSite(o Options, pace *pace) (*site, error) {
	u, err := url.Parse(o.URL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fault.New(fault.Invalid, "The cloud site's URL is no base URL; write it as https://example.atlassian.net.")
	}
	return &site{
		base: strings.TrimRight(o.URL, "/"), user: o.User, token: o.Token, client: o.Client,
		pace: pace, timeout: o.Timeout, clock: o.Clock, metrics: newMetrics(o.Metrics),
	}, nil
}

// listed is what an issue has of ours.
type listed struct {
	head  bool
	parts []int
}

// keys lists an issue's properties.
func (s *site) keys(ctx context.Context, issue int64) (listed, error) {
	a, err := s.ask(ctx, question{endpoint: listing, issue: issue, max: maxList})
	if err != nil {
		return listed{}, err
	}
	if a.status == http.StatusNotFound {
		return listed{}, noIssue(issue, a.said)
	}
	var list struct {
		Keys *[]struct {
			Key string `json:"key"`
		} `json:"keys"`
	}
	if err := json.Unmarshal(a.body, &list); err != nil || list.Keys == nil {
		return listed{}, failed("The cloud site answered something that is no list of properties")
	}
	var l listed
	for _, k := range *list.Keys {
		if n, ok := partNumber(k.Key); ok {
			l.parts = append(l.parts, n)
		}
		l.head = l.head || k.Key == headKey
	}
	return l, nil
}

// errNoProperty is for an answer that is whole and of which no value can be read.
var errNoProperty = errors.New("it is no JSON")

// get returns a property's value; false where there is no such property, or no
// such issue.
func (s *site) get(ctx context.Context, issue int64, key string) (value []byte, ok bool, err error) {
	a, err := s.ask(ctx, question{endpoint: reading, issue: issue, key: key, max: maxProperty})
	if err != nil || a.status == http.StatusNotFound {
		return nil, false, err
	}
	var property struct {
		Value jsontext.Value `json:"value"`
	}
	if err := json.Unmarshal(a.body, &property); err != nil || property.Value == nil {
		return nil, false, errNoProperty
	}
	return property.Value, true, nil
}

func (s *site) put(ctx context.Context, turn *turn, issue int64, key string, value []byte) error {
	return s.write(ctx, turn, question{endpoint: writing, issue: issue, key: key, value: value, max: maxProperty})
}

// remove deletes a property; that it is not there is as good.
func (s *site) remove(ctx context.Context, turn *turn, issue int64, key string) error {
	return s.write(ctx, turn, question{endpoint: deleting, issue: issue, key: key, max: maxProperty})
}

func (s *site) write(ctx context.Context, turn *turn, q question) error {
	if err := turn.wait(ctx); err != nil {
		return err
	}
	a, err := s.ask(ctx, q)
	if err == nil && a.status == http.StatusNotFound && q.endpoint == writing {
		err = noIssue(q.issue, a.said)
	}
	return err
}

func noIssue(issue int64, said string) *threads.TargetError {
	return &threads.TargetError{Kind: threads.TargetMissing, Status: http.StatusNotFound, Said: said,
		Message: fmt.Sprintf("The cloud site has no issue %d that the account may see", issue)}
}

// question is one request.
type question struct {
	endpoint endpoint
	issue    int64
	key      string
	value    []byte
	max      int64 // bytes of the answer
}

func (q question) path() string {
	if q.endpoint == permissions {
		return "/rest/api/3/mypermissions?permissions=" + editIssues + "&issueId=" + strconv.FormatInt(q.issue, 10)
	}
	if q.endpoint == fetching {
		return "/rest/api/3/issue/bulkfetch"
	}
	path := "/rest/api/3/issue/" + strconv.FormatInt(q.issue, 10) + "/properties"
	if q.key != "" {
		path += "/" + q.key
	}
	return path
}

// answer is a success, or a 404 about an issue or a property.
type answer struct {
	status int
	body   []byte
	said   string // the site's words where it is a 404
}

// ask sends a request when it is its time.
func (s *site) ask(ctx context.Context, q question) (answer, error) {
	done, err := s.pace.begin(ctx, q.endpoint)
	if err != nil {
		return answer{}, err
	}
	defer done()
	asking, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	req, err := s.request(asking, q)
	if err != nil {
		return answer{}, failed("The cloud site's URL cannot be asked")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		s.metrics.answered(q.endpoint, 0)
		if ctx.Err() != nil {
			return answer{}, ctx.Err()
		}
		if errors.Is(asking.Err(), context.DeadlineExceeded) {
			return answer{}, failed("The cloud site did not answer within %v", s.timeout)
		}
		return answer{}, &threads.TargetError{Message: "The cloud site did not answer", Cause: err}
	}
	defer resp.Body.Close()
	s.metrics.answered(q.endpoint, resp.StatusCode)
	s.pace.heed(resp.Header)
	text, err := io.ReadAll(io.LimitReader(resp.Body, q.max+1))
	if ctx.Err() != nil {
		return answer{}, ctx.Err()
	}
	return s.judge(q, resp, text, err)
}

func (s *site) request(ctx context.Context, q question) (*http.Request, error) {
	var body io.Reader
	if q.value != nil {
		body = bytes.NewReader(q.value)
	}
	req, err := egress.NewRequest(ctx, q.endpoint.method(), s.base+q.path(), body)
	if err != nil {
		return nil, err
	}
	req.SetBasicAuth(s.user, s.token.Reveal())
	req.Header.Set("Accept", "application/json")
	if q.value != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// judge says what an answer means; broken is why its body ends too soon.
func (s *site) judge(q question, resp *http.Response, text []byte, broken error) (answer, error) {
	if e := s.refusal(q, resp, text); e != nil {
		return answer{}, e
	}
	if q.endpoint == listing || q.endpoint == reading || q.endpoint == fetching {
		switch {
		case broken != nil:
			return answer{}, failed("The cloud site broke off in the middle of its answer")
		case int64(len(text)) > q.max:
			return answer{}, failed("The cloud site answered more than %d bytes", q.max)
		}
	}
	a := answer{status: resp.StatusCode, body: text}
	if a.status == http.StatusNotFound {
		a.said = s.said(resp, text)
	}
	return a, nil
}

// isPage reports whether a success is none of the API. What a write answers beside
// its status says nothing; a page that has come in its place does.
func isPage(resp *http.Response, text []byte) bool {
	return resp.StatusCode/100 == 2 && !isJSON(resp) && len(bytes.TrimSpace(text)) > 0
}

func failed(format string, args ...any) *threads.TargetError {
	return &threads.TargetError{Message: fmt.Sprintf(format, args...)}
}

func isJSON(resp *http.Response) bool {
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && (kind == "application/json" || strings.HasSuffix(kind, "+json"))
}
