package outbox

import (
	"net/url"
	"strings"
)

// longPart is from how many characters on a part of a path or a query may be a
// secret by itself: signatures and tokens have over 20, words fewer.
const longPart = 16

// hider takes a webhook URL out of what a server says: some repeat in an error
// page what they were asked for, and answers are stored, shown and logged.
func hider(webhookURL string) *strings.Replacer {
	var pairs []string
	hide := func(secrets ...string) {
		for _, s := range secrets {
			if len(s) > len("/") {
				pairs = append(pairs, s, "••••")
			}
		}
	}
	u, err := url.Parse(webhookURL)
	if err != nil {
		return strings.NewReplacer()
	}
	// At one place of a text the first of these that fits is replaced.
	hide(webhookURL, u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery)
	parts := strings.Split(u.EscapedPath(), "/")
	for member := range strings.SplitSeq(u.RawQuery, "&") {
		_, value, _ := strings.Cut(member, "=")
		parts = append(parts, value)
	}
	for _, part := range parts {
		if len(part) < longPart {
			continue
		}
		hide(part)
		for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
			if plain, err := unescape(part); err == nil && plain != part {
				hide(plain)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}
