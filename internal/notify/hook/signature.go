package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"sync"

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
	by := signers.Get().(*signer)
	defer signers.Put(by)
	ok := false
	for _, key := range secrets {
		if !key.IsZero() && hmac.Equal(by.sign(body, key), s.given[:]) {
			ok = true
		}
	}
	return ok && s.well
}

// Sign returns the value of SignatureHeader for body.
func Sign(body []byte, key secret.Value) string {
	return "sha256=" + hex.EncodeToString(new(signer).sign(body, key))
}

// signer signs with the secret that it had last, which is nearly always the same,
// in the same memory.
type signer struct {
	key string
	mac hash.Hash // nil at first
	sum [sha256.Size]byte
}

var signers = sync.Pool{New: func() any { return new(signer) }}

// sign returns the signature of body, which is overwritten by the next.
func (s *signer) sign(body []byte, key secret.Value) []byte {
	if s.mac == nil || s.key != key.Reveal() {
		s.key, s.mac = key.Reveal(), hmac.New(sha256.New, []byte(key.Reveal()))
	}
	s.mac.Reset()
	s.mac.Write(body)
	return s.mac.Sum(s.sum[:0])
}
