package outbox

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"outrigger/internal/notify"
	"outrigger/internal/secret"
)

// keptHeaders are the headers of an answer that are kept where it was refused, in
// the order in which they are shown: what says why, when to come again, and by what
// number the platform's support finds the request. Cookies are never among them.
var keptHeaders = []string{
	"Content-Type", "Content-Length", "Date", "Server", "Via", "Location", "Allow", "Www-Authenticate", "Retry-After",
	"Ratelimit-Limit", "Ratelimit-Remaining", "Ratelimit-Reset", "X-Ratelimit-Limit", "X-Ratelimit-Remaining", "X-Ratelimit-Reset",
	"Request-Id", "X-Request-Id", "X-Correlation-Id", "Traceparent", "Cf-Ray", "X-Cache",
	"X-Ms-Request-Id", "X-Ms-Correlation-Request-Id", "X-Ms-Client-Request-Id", "X-Ms-Workflow-Run-Id", "X-Ms-Tracking-Id",
	"X-Ms-Failure-Cause",
	"X-Slack-Failure", "X-Slack-Req-Id", "X-Slack-Unique-Id",
}

// maxHeader bounds a header's value, in bytes, so that all of them have 8 KiB at most.
const maxHeader = 256

// headersOf are the headers of an answer that are kept, without the webhook URL.
func headersOf(header http.Header, webhook secret.Value) (kept []notify.Header) {
	for _, name := range keptHeaders {
		values := header[name]
		if len(values) == 0 {
			continue
		}
		value := headerValue(values, webhook)
		if name == "Location" { // where it leads may be another webhook URL
			value = secret.MaskURL(printableASCII(values[0][:min(len(values[0]), maxHeader)]))
		}
		if value != "" {
			kept = append(kept, notify.Header{Name: name, Value: value})
		}
	}
	return kept
}

// headerValue is the values of a header as one line. It reads beyond maxHeader, so
// that hide sees whole each secret that begins before the cut; see work.ReadMasked.
func headerValue(values []string, webhook secret.Value) string {
	longest := len(webhook.Reveal())
	var text strings.Builder
	whole := true
	for i, value := range values {
		if i > 0 {
			text.WriteString(", ")
		}
		room := max(0, maxHeader+longest-text.Len())
		if whole = len(value) <= room; !whole {
			text.WriteString(value[:room])
			break
		}
		text.WriteString(value)
	}
	value := hide(webhook, printableASCII(text.String()))
	if !whole {
		value = value[:max(0, len(value)-longest)]
	}
	if len(value) > maxHeader {
		value, whole = value[:maxHeader], false
	}
	value = strings.ToValidUTF8(value, "")
	if !whole {
		value += "…"
	}
	return value
}

// printableASCII is a header's text in one line, with U+FFFD in place of what
// headers have no use for: control characters, and what turns the text around it.
func printableASCII(text string) string {
	return strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if r != '\t' && (r < ' ' || r > '~') {
			return utf8.RuneError
		}
		return r
	}, text)), " ")
}
