package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"

	"outrigger/internal/secret"
)

// SignatureHeader is where both editions put the signature of a webhook:
// `sha256=<hex>`, the HMAC-SHA256 of the raw body.
const SignatureHeader = "X-Hub-Signature"

// signature judges a webhook's signature while its body is read: everything
// written to it is the body.
type signature struct {
	given [sha256.Size]byte
	well  bool        // given could be read
	macs  []hash.Hash // one a secret
	plain hash.Hash   // the same for the same body, whatever it is signed with
}

// newSignature begins to judge the value of SignatureHeader. A malformed one is
// simply not valid, as is any where there is no secret.
func newSignature(header string, secrets []secret.Value) *signature {
	s := &signature{plain: sha256.New()}
	digits, found := strings.CutPrefix(header, "sha256=")
	if found && len(digits) == hex.EncodedLen(sha256.Size) {
		_, err := hex.Decode(s.given[:], []byte(digits))
		s.well = err == nil
	}
	for _, key := range secrets {
		if !key.IsZero() {
			s.macs = append(s.macs, hmac.New(sha256.New, []byte(key.Reveal())))
		}
	}
	return s
}

// possible tells, before the body is read, whether the signature may turn out
// to be valid.
func (s *signature) possible() bool { return s.well && len(s.macs) > 0 }

// Write takes more of the body. It never fails.
func (s *signature) Write(b []byte) (int, error) {
	for _, mac := range s.macs {
		mac.Write(b)
	}
	return s.plain.Write(b)
}

// valid reports whether the body was signed with one of the secrets. It takes the
// same time for every wrong signature.
func (s *signature) valid() bool {
	ok := false
	for _, mac := range s.macs {
		var sum [sha256.Size]byte
		if hmac.Equal(mac.Sum(sum[:0]), s.given[:]) {
			ok = true
		}
	}
	return ok && s.well
}

// digest is the same for the same body.
func (s *signature) digest() []byte { return s.plain.Sum(nil) }

// Sign returns the value of SignatureHeader for body.
func Sign(body []byte, key secret.Value) string {
	mac := hmac.New(sha256.New, []byte(key.Reveal()))
	mac.Write(body)
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}
