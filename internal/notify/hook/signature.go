package hook

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

// signature is what a webhook has in SignatureHeader.
type signature struct {
	given [sha256.Size]byte
	well  bool // given could be read
}

// readSignature reads the value of SignatureHeader. A malformed one is simply of
// no body.
func readSignature(header string) (s signature) {
	digits, found := strings.CutPrefix(header, "sha256=")
	if found && len(digits) == hex.EncodedLen(sha256.Size) {
		_, err := hex.Decode(s.given[:], []byte(digits))
		s.well = err == nil
	}
	return s
}

// of reports whether the body was signed with one of the secrets. It takes the
// same time for every wrong signature.
func (s signature) of(body []byte, secrets []secret.Value) bool {
	ok := false
	for _, key := range secrets {
		var sum [sha256.Size]byte
		if !key.IsZero() && hmac.Equal(hmacOf(body, key, sum[:0]), s.given[:]) {
			ok = true
		}
	}
	return ok && s.well
}

// Sign returns the value of SignatureHeader for body.
func Sign(body []byte, key secret.Value) string {
	return "sha256=" + hex.EncodeToString(hmacOf(body, key, nil))
}

func hmacOf(body []byte, key secret.Value, to []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write(body)
	return mac.Sum(to)
}
