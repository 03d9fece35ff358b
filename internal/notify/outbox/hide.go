package outbox

import (
	"net/url"
	"strings"

	"outrigger/internal/secret"
)

// longPart is from how many characters on a part of a path or a query may be a
// secret by itself: signatures and tokens have over 20, words fewer.
const longPart = 16

// hide takes a webhook URL out of what a server says: some repeat in an error
// page what they were asked for, and answers are stored, shown and logged.
func hide(webhookURL secret.Value, answer string) string {
	if answer == "" {
		return ""
	}
	u, err := url.Parse(webhookURL.Reveal())
	if err != nil {
		return answer
	}
	// What holds another comes before it.
	hidden := []string{webhookURL.Reveal(), u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery}
	parts := strings.Split(u.EscapedPath(), "/")
	for member := range strings.SplitSeq(u.RawQuery, "&") {
		_, value, _ := strings.Cut(member, "=")
		parts = append(parts, value)
	}
	for _, part := range parts {
		if len(part) < longPart {
			continue
		}
		hidden = append(hidden, part)
		for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
			if plain, err := unescape(part); err == nil {
				hidden = append(hidden, plain)
			}
		}
	}
	for _, h := range hidden {
		if len(h) > len("/") {
			answer = strings.ReplaceAll(answer, h, "••••")
		}
	}
	return answer
}
