package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// refusal is what a server's error answer says, a line for each member that is
// wrong.
func (c *client) refusal(resp *http.Response) error {
	var body struct {
		Message string
		Errors  []struct{ Field, Message string }
	}
	if err := json.NewDecoder(resp.Body).Decode(&body); err != nil || body.Message == "" {
		return fmt.Errorf("%s answered %s%s", c.base, resp.Status, c.advice(resp.StatusCode))
	}
	if resp.StatusCode == http.StatusUnauthorized {
		body.Message += " Check the user and the password, or the token."
	}
	if len(body.Errors) == 0 {
		return errors.New(body.Message)
	}
	var lines []error
	for _, e := range body.Errors {
		lines = append(lines, fmt.Errorf("%s: %s", cmp.Or(flags[e.Field], e.Field), e.Message))
	}
	return errors.Join(lines...)
}

// advice says what would be right where an answer is none of Outrigger's.
func (c *client) advice(status int) string {
	switch {
	case status == http.StatusBadRequest && strings.HasPrefix(c.base, "http://"):
		// What servers that take HTTPS, Go's and nginx among them, say to plain HTTP.
		return "; if it is an HTTPS server, begin --server (or OUTRIGGER_SERVER) with https://"
	case status == http.StatusNotFound:
		return "; --server (or OUTRIGGER_SERVER) must be the base_url of an Outrigger server"
	}
	return ""
}

// flags are the flags of members that every command takes by the same flag.
var flags = map[string]string{"connection": "--connection", "projectKey": "--project", "repositoryKey": "--repository",
	"keepTokens": "--keep-token"}

// unreachable is the error of a request that got no answer.
func (c *client) unreachable(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // without the method and the whole URL
	}
	if errors.Is(err, http.ErrSchemeMismatch) {
		return fmt.Errorf("%s does not speak HTTPS; begin --server (or OUTRIGGER_SERVER) with http://", c.base)
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return fmt.Errorf("%s does not answer; --server or OUTRIGGER_SERVER says which server to ask: %w", c.base, err)
	}
	return fmt.Errorf("%s does not answer: %w", c.base, err)
}
