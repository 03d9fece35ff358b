package restclient

import (
	"encoding/json"
	"strings"
)

// maxToken is several times the longest token that the vendor's platforms give
// out.
const maxToken = 8 << 10

// UsableToken reports whether a token that a platform gives can stand in a header
// (RFC 6750, 2.1).
func UsableToken(token string) bool {
	return token != "" && len(token) <= maxToken && strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// OAuthError is an error of a token endpoint (RFC 6749, 5.2).
type OAuthError struct {
	Error       string
	Description string `json:"error_description"`
}

// ReadOAuthError reads the body of an answer; false: it is no such error.
func ReadOAuthError(body []byte) (e OAuthError, ok bool) {
	ok = json.Unmarshal(body, &e) == nil && e.Error != ""
	return e, ok
}

// Words are the platform's, for people.
func (e OAuthError) Words() string {
	if e.Description == "" {
		return e.Error
	}
	return e.Error + ": " + e.Description
}
