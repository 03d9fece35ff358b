package hook

import (
	"io"
	"net/http"
	"strings"

	"outrigger/internal/notify"
)

// EventKeyHeader says what happened, where the body does not: the cloud
// edition's bodies have no key. It is not signed.
const EventKeyHeader = "X-Event-Key"

// shortKey cuts what is longer than any key: such a one is unknown anyway.
func shortKey(key string) string {
	key, _ = notify.Cut(key, notify.MaxKey)
	return key
}

// requestID names a webhook once and for all: the self-hosted platform's
// X-Request-Id, the cloud's X-Request-UUID.
func requestID(h http.Header) string {
	id := h.Get("X-Request-Id")
	if id == "" {
		id = h.Get("X-Request-UUID")
	}
	if len(id) > maxRequestID {
		return ""
	}
	return id
}

// maxRequestID is longer than any UUID; what is over it names nothing.
const maxRequestID = 200

// maxTest is longer than any test body that a platform sends.
const maxTest = 64

// isPing reports whether a webhook is the platform's "Test connection", which it
// does not sign.
func isPing(r *http.Request) bool { return r.Header.Get(EventKeyHeader) == "diagnostics:ping" }

// isTest reports whether a body is the other form of a test that platforms send:
// no key, and {"test": true}.
func isTest(r *http.Request, body []byte) bool {
	return r.Header.Get(EventKeyHeader) == "" && len(body) <= maxTest &&
		strings.Join(strings.Fields(string(body)), "") == `{"test":true}`
}

// readTest reads as much of an unsigned body as a test may have.
func readTest(r *http.Request) []byte {
	if r.Header.Get(EventKeyHeader) != "" || r.ContentLength > maxTest {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxTest+1))
	if err != nil {
		return nil
	}
	return body
}
