package jiracloud_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"outrigger/internal/egress"
	"outrigger/internal/playground/cloudsite"
	"outrigger/internal/secret"
	"outrigger/internal/threads"
	"outrigger/internal/threads/jiracloud"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	user  = "ann@example.com"
	token = "ATATT3xSecret"
)

// direct asks a handler without a network, in the time of synctest too.
type direct struct{ http.Handler }

func (d direct) Do(req *http.Request) (resp *http.Response, err error) {
	r := req.Clone(req.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	rec := httptest.NewRecorder()
	defer func() {
		switch hungUp := recover(); {
		case hungUp == nil:
		case rec.Flushed:
			resp, err = rec.Result(), nil
			resp.Request = req
			resp.Body = io.NopCloser(io.MultiReader(bytes.NewReader(rec.Body.Bytes()), broken{}))
		default:
			resp, err = nil, errors.New("the site closed the connection without an answer")
		}
	}()
	d.ServeHTTP(rec, r)
	resp = rec.Result()
	resp.Request = req
	return resp, nil
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// account is that of the options of every site here.
func account(o cloudsite.Options) cloudsite.Options {
	o.User, o.Token = user, token
	return o
}

// play returns a site, and a target on it that waits for nothing.
func play(t testing.TB, o cloudsite.Options) (*cloudsite.Site, *jiracloud.Target) {
	site := cloudsite.New(account(o))
	return site, targetOf(t, direct{site.Handler()})
}

func targetOf(t testing.TB, client egress.Doer) *jiracloud.Target {
	target, err := jiracloud.New(jiracloud.Options{
		URL: "https://site.example/", User: user, Token: secret.New(token), Client: client, PerSecond: 1e9,
	})
	if err != nil {
		t.Fatal(err)
	}
	return target
}

// many returns a map of n relations of 44 bytes each: 743 have room in a property.
func many(n int, parent int64) threads.ParentMap {
	const long = 4_000_000_000_000_000_000
	m := make(threads.ParentMap, n)
	for i := range m {
		m[i] = threads.Relation{CommentID: long + int64(i), ParentID: long - parent}
	}
	return m
}

// become is a change that does not care what there was.
func become(m threads.ParentMap) threads.Change {
	return func(threads.ParentMap) (threads.ParentMap, error) { return m, nil }
}

func write(t testing.TB, target *jiracloud.Target, issue int64, m threads.ParentMap) {
	t.Helper()
	got, err := target.Write(context.Background(), issue, become(m))
	if err != nil || !slices.Equal(got, m) {
		t.Fatalf("writing %d relations gave %d: %v", len(m), len(got), err)
	}
}

// seen is an issue's map as an app on the site sees it.
func seen(t testing.TB, site *cloudsite.Site, issue int64) threads.ParentMap {
	t.Helper()
	parents, err := site.Parents(issue)
	if err != nil {
		t.Fatal(err)
	}
	var m []threads.Relation
	for comment, parent := range parents {
		var r threads.Relation
		r.CommentID, _ = strconv.ParseInt(comment, 10, 64)
		r.ParentID, _ = strconv.ParseInt(parent, 10, 64)
		m = append(m, r)
	}
	return threads.NewParentMap(m)
}

// kindOf is the kind of a *threads.TargetError, which err has to be.
func kindOf(t testing.TB, err error) *threads.TargetError {
	t.Helper()
	var e *threads.TargetError
	if !errors.As(err, &e) {
		t.Fatalf("the error is no TargetError: %v", err)
	}
	return e
}
