package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"outrigger/internal/secret"
)

// SignatureHeader is where both editions put the signature of a webhook:
// `sha256=<hex>`, the HMAC-SHA256 of the raw body.
const SignatureHeader = "X-Hub-Signature"

// ValidSignature tells whether header is the signature of body under one of
// the secrets. A malformed header is simply not valid. It takes the same time
// for every wrong signature of the right form.
func ValidSignature(header string, body []byte, secrets ...secret.Value) bool {
	_, ok := verify(header, body, secrets)
	return ok
}

// verify is ValidSignature, and gives the signature's bytes.
func verify(header string, body []byte, secrets []secret.Value) (signature []byte, ok bool) {
	given, found := strings.CutPrefix(header, "sha256=")
	if !found || len(given) != hex.EncodedLen(sha256.Size) {
		return nil, false
	}
	want := make([]byte, sha256.Size)
	if _, err := hex.Decode(want, []byte(given)); err != nil {
		return nil, false
	}
	for _, s := range secrets {
		if s.IsZero() {
			continue
		}
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		mac.Write(body)
		var sum [sha256.Size]byte
		if hmac.Equal(mac.Sum(sum[:0]), want) {
			ok = true
		}
	}
	return want, ok
}

// Sign gives the value of SignatureHeader for body.
func Sign(body []byte, s secret.Value) string {
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
