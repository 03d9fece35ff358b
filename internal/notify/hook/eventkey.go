package hook

import (
	"bytes"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"outrigger/internal/fault"
)

// EventKeyHeader says what happened, where the body does not: the cloud
// edition's bodies have no key. It is not signed.
const EventKeyHeader = "X-Event-Key"

// maxEventKey is three times the longest key of either edition.
const maxEventKey = 100

// eventKey checks a verified body and says what happened: the body's own key,
// which the signature covers, else that of the header. A header that says
// otherwise than the body is fault.Invalid: it would have a recorded body pass
// for another event.
func eventKey(header string, body []byte) (string, error) {
	raw, err := CheckBody(body)
	if err != nil {
		return "", err
	}
	key := header
	if len(raw) > 0 && raw[0] == '"' {
		own, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			own = bytes.Trim(raw, `"`) // half a surrogate pair: no key, and unknown as such
		}
		if key = string(own); header != "" && header != key {
			return "", fault.New(fault.Invalid, "The header %s says %q and the body's eventKey %q; they must be the same.",
				EventKeyHeader, shortKey(header), shortKey(key))
		}
	}
	return shortKey(key), nil
}

// shortKey cuts what is longer than any key: such a one is unknown anyway.
func shortKey(key string) string {
	if len(key) > maxEventKey {
		return key[:maxEventKey]
	}
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
