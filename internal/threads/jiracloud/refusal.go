package jiracloud

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/net/html"

	"outrigger/internal/threads"
	"outrigger/internal/work"
)

// refusal is why an answer is no answer to the question; nil when it is one.
func (s *site) refusal(q question, resp *http.Response, text []byte) error {
	if isStranger(resp.Header) {
		return &threads.TargetError{Kind: threads.TargetRefusesUs, Message: credentials}
	}
	if isPage(resp, text) {
		return failed("The cloud site answered a page instead of JSON; there may be another server between, or its URL is another")
	}
	if slices.Contains(q.endpoint.expected(), resp.StatusCode) {
		return nil
	}
	e := &threads.TargetError{Kind: threads.TargetFails, Status: resp.StatusCode,
		Message: strings.TrimSpace(fmt.Sprintf("The cloud site answered %d %s", resp.StatusCode, http.StatusText(resp.StatusCode)))}
	switch status := resp.StatusCode; {
	case status == http.StatusNotFound && isJSON(resp):
		return nil // about an issue or a property: the question knows
	case status == http.StatusNotFound:
		e.Cause = errNoAPI
	case status == http.StatusUnauthorized:
		e.Kind, e.Message = threads.TargetRefusesUs, credentials
	case status == http.StatusForbidden:
		e.Kind, e.Message = threads.TargetForbids, fmt.Sprintf("The cloud site does not let the account edit issue %d", q.issue)
	case status == http.StatusTooManyRequests:
		e.Kind, e.Message = threads.TargetLimits, "The cloud site is asked too often"+limitOf(resp.Header)
		e.Wait, e.Declared = work.RetryAfter(resp.Header, s.clock())
	case status >= 300 && status < 400:
		e.Kind, e.Message = threads.TargetRefusesUs, fmt.Sprintf("The cloud site sends on to %s; set threads.jira_cloud.url to the URL "+
			"that answers itself, restart Outrigger, then continue.", destination(resp))
	case status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge:
		e.Kind, e.Message = threads.TargetForbids, fmt.Sprintf("The cloud site refused what was to be done with issue %d", q.issue)
	case status >= 500:
		e.Wait, e.Declared = work.RetryAfter(resp.Header, s.clock())
	}
	e.Said = s.said(resp, text)
	return e
}

// errNoAPI is for a 404 that is no JSON: a proxy's, or that of another site.
var errNoAPI = errors.New("no answer of the issue property API; check threads.jira_cloud.url")

const credentials = "The cloud site does not accept the e-mail address and the API token of threads.jira_cloud. " +
	"Set those of an account that is active and a token that has not expired, restart Outrigger, then continue."

// isStranger reports whether the site has taken the request for an anonymous one
// in spite of the credentials. It does so with tokens that have expired, and
// then answers that there is no such issue.
func isStranger(h http.Header) bool {
	reason := h.Get("X-Seraph-LoginReason")
	return strings.Contains(reason, "AUTHENTICATED_FAILED") || strings.Contains(reason, "AUTHENTICATION_DENIED")
}

// limitOf says which limit it is.
func limitOf(h http.Header) string {
	reason := h.Get("RateLimit-Reason")
	if reason == "" || len(reason) > 64 || strings.Trim(reason, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return ""
	}
	return " (" + reason + ")"
}

// destination is the host that a redirect leads to; its path may hold secrets.
func destination(resp *http.Response) string {
	if u, err := url.Parse(resp.Header.Get("Location")); err == nil && u.Hostname() != "" {
		return u.Scheme + "://" + u.Host
	}
	return "another place"
}

// maxSaid is how much of the site's own words is repeated.
const maxSaid = 200

// said is what the site says about a refusal, unless it repeats our credentials.
func (s *site) said(resp *http.Response, text []byte) string {
	words := strings.Join(strings.Fields(work.Printable(wordsOf(resp, text))), " ")
	_, basic, _ := strings.Cut(resp.Request.Header.Get("Authorization"), " ")
	for _, hidden := range []string{s.token.Reveal(), basic} {
		if hidden != "" && strings.Contains(words, hidden) {
			return ""
		}
	}
	if len(words) > maxSaid {
		words = strings.ToValidUTF8(words[:maxSaid], "") + "…"
	}
	return words
}

// wordsOf are the words of an answer: the messages of JSON, or the text of a page,
// as sites answer that are switched off.
func wordsOf(resp *http.Response, text []byte) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case isJSON(resp):
		var body struct {
			Messages []string          `json:"errorMessages"`
			Errors   map[string]string `json:"errors"`
			Message  string            `json:"errorMessage"`
		}
		if json.Unmarshal(text, &body) != nil {
			return ""
		}
		list := append(slices.Collect(maps.Values(body.Errors)), body.Messages...)
		slices.Sort(list)
		return strings.Join(append(list, body.Message), " ")
	case kind == "text/html":
		return pageText(text)
	case kind == "text/plain":
		return string(text)
	}
	return ""
}

// pageText is the text that a reader sees of a page, its title first.
func pageText(page []byte) string {
	var list []string
	tokens := html.NewTokenizer(bytes.NewReader(page))
	for hidden := false; ; {
		switch tokens.Next() {
		case html.ErrorToken:
			return strings.Join(list, "")
		case html.TextToken:
			if !hidden {
				list = append(list, string(tokens.Text()))
			}
		case html.StartTagToken, html.EndTagToken:
			t := tokens.Token()
			if t.Data == "script" || t.Data == "style" {
				hidden = t.Type == html.StartTagToken
			}
			if !slices.Contains([]string{"a", "b", "em", "i", "span", "strong"}, t.Data) {
				list = append(list, " ") // the tag separates words
			}
		}
	}
}
