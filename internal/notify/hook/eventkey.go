package hook

import (
	"net/http"

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
