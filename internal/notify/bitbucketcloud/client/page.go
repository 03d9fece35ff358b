package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
	"outrigger/internal/secret"
)

const (
	// pageSize is the most that every list gives at once: beyond it some answer
	// with an error, or with nothing.
	pageSize = 50
	// maxPages is one more than the longest list has that is read to its end, in
	// the smallest pages that the platform makes by itself.
	maxPages = maxPullRequests/10 + 1
	// maxEmpty is how many pages without a value may follow each other: the
	// platform leaves out what the account may not see after it has counted.
	maxEmpty = 10
	// maxLink is several times the longest address of a next page. All of them are
	// remembered until the list ends.
	maxLink = 8 << 10
)

// list goes through all pages of a list, until take has enough or gives an
// error.
func list[T any](
	ctx context.Context, cl *Client, c *notify.Connection, token secret.Value, at string, query url.Values,
	take func(T) (enough bool, err error),
) error {
	if query == nil {
		query = url.Values{}
	}
	query.Set("pagelen", strconv.Itoa(pageSize))
	address := apiOf(c) + at + "?" + query.Encode()
	seen, empty := map[string]bool{}, 0
	for range maxPages {
		var page struct {
			Values json.RawMessage
			Next   string
		}
		if err := cl.call(ctx, c, token, http.MethodGet, address, nil, &page); err != nil {
			return err
		}
		values, ok := restclient.Values[T](page.Values)
		if !ok {
			return restclient.NotThePlatform(c.Name)
		}
		mark := string(secret.Fingerprint(string(page.Values)))
		if empty++; len(values) > 0 {
			if empty = 0; seen[mark] {
				return restclient.Repeating(c.Name)
			}
		}
		for _, v := range values {
			if enough, err := take(v); enough || err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		if empty > maxEmpty {
			return restclient.Endless(c.Name)
		}
		if len(page.Next) > maxLink || !leads(apiOf(c), page.Next) {
			return elsewhere(c)
		}
		seen[mark], seen[address] = true, true
		if address = page.Next; seen[address] {
			return restclient.Repeating(c.Name)
		}
	}
	return restclient.Endless(c.Name)
}

// leads reports whether a link that the platform gave stays within its API: the
// token goes nowhere else.
func leads(api, next string) bool {
	a, errAPI := url.Parse(api)
	n, err := url.Parse(next)
	return err == nil && errAPI == nil && n.User == nil && n.Opaque == "" &&
		n.Scheme == a.Scheme && strings.EqualFold(n.Host, a.Host) &&
		strings.HasPrefix(n.Path, a.Path+"/") && path.Clean(n.Path) == strings.TrimRight(n.Path, "/")
}

func elsewhere(c *notify.Connection) error {
	return fault.New(fault.Unavailable, "The platform of %s gives an address outside its API for the next page; check the base URL.", c.Name)
}
