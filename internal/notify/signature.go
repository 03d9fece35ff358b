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
	given, ok := strings.CutPrefix(header, "sha256=")
	if !ok || len(given) != hex.EncodedLen(sha256.Size) {
		return false
	}
	var want [sha256.Size]byte
	if _, err := hex.Decode(want[:], []byte(given)); err != nil {
		return false
	}
	valid := false
	for _, s := range secrets {
		if s.IsZero() {
			continue
		}
		mac := hmac.New(sha256.New, []byte(s.Reveal()))
		mac.Write(body)
		var sum [sha256.Size]byte
		if hmac.Equal(mac.Sum(sum[:0]), want[:]) {
			valid = true
		}
	}
	return valid
}

// Sign gives the value of SignatureHeader for body.
func Sign(body []byte, s secret.Value) string {
	mac := hmac.New(sha256.New, []byte(s.Reveal()))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
