package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"

	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

const (
	// pageSize is what is asked for at once; the platform may give less.
	pageSize = 250
	// maxPages is 100,000 values, more than the largest platforms have users or
	// projects.
	maxPages = 400
	// maxEmpty is how many pages without a value may follow each other: the
	// platform leaves out what the account may not see after it has counted.
	maxEmpty = 10
)

// list goes through all pages of a list, until take has enough.
func list[T any](ctx context.Context, cl *Client, c *notify.Connection, path string, query url.Values, take func(T) (enough bool)) error {
	return listJudged(ctx, cl, c, path, query, func(http.Header) error { return nil }, take)
}

// listJudged is list of an answer that judge takes by the headers of each page.
func listJudged[T any](
	ctx context.Context, cl *Client, c *notify.Connection, path string, query url.Values,
	judge func(http.Header) error, take func(T) (enough bool),
) error {
	at := url.Values{"limit": {strconv.Itoa(pageSize)}} // query may say otherwise
	for name, values := range query {
		at[name] = values
	}
	seen, empty, start := map[string]bool{}, 0, int64(0)
	for range maxPages {
		var page struct {
			Values        json.RawMessage
			IsLastPage    *bool
			NextPageStart *int64
		}
		q := request(c, http.MethodGet, path, at, nil, &page)
		q.Header = http.Header{}
		if err := cl.rest.Do(ctx, q); err != nil {
			return err
		}
		if err := judge(q.Header); err != nil {
			return err
		}
		values, ok := restclient.Values[T](page.Values)
		if !ok || page.IsLastPage == nil {
			return restclient.NotThePlatform(c.Name)
		}
		for _, v := range values {
			if take(v) {
				return nil
			}
		}
		if *page.IsLastPage {
			return nil
		}
		mark := string(secret.Fingerprint(string(page.Values)))
		if empty++; len(values) > 0 {
			empty = 0
		}
		switch {
		case page.NextPageStart == nil || *page.NextPageStart <= start, len(values) > 0 && seen[mark]:
			return restclient.Repeating(c.Name)
		case empty > maxEmpty:
			return restclient.Endless(c.Name)
		}
		seen[mark], start = true, *page.NextPageStart
		at.Set("start", strconv.FormatInt(start, 10))
	}
	return restclient.Endless(c.Name)
}
