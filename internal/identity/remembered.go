package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"time"

	"outrigger/internal/cache"
)

const (
	// rememberFor is how long a password that was right need not be computed
	// again: monitors poll more often than this.
	rememberFor = 60 * time.Second
	// maxRemembered bounds the memory; so many users do not sign in by password
	// within a minute.
	maxRemembered = 1000
)

// remembered holds who signed in a short while ago, under keys from which the
// password cannot be had: what it was compared with, which is another once it changes.
type remembered struct {
	key []byte // of this process
	*cache.Cache[[sha256.Size]byte, string]
}

func newRemembered(now func() time.Time, key []byte) *remembered {
	return &remembered{key, cache.New[[sha256.Size]byte, string](now, rememberFor, maxRemembered)}
}

func (r *remembered) keyOf(name, password string) (key [sha256.Size]byte) {
	mac := hmac.New(sha256.New, r.key)
	mac.Write([]byte(name))
	mac.Write([]byte{0}) // names have no U+0000
	mac.Write([]byte(password))
	mac.Sum(key[:0])
	return key
}

// has reports whether the password was right a short while ago, and is still the
// one that is stored.
func (r *remembered) has(name, password, stored string) bool {
	compared, ok := r.Get(r.keyOf(name, password))
	return ok && compared == stored
}

func (r *remembered) add(name, password, stored string) { r.Put(r.keyOf(name, password), stored) }
