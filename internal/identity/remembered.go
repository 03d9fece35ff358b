package identity

import (
	"crypto/hmac"
	"crypto/sha256"
	"sync"
	"time"
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
// password cannot be had.
type remembered struct {
	now func() time.Time
	key []byte // of this process

	mu      sync.Mutex
	entries map[[sha256.Size]byte]success
}

type success struct {
	stored string // what the password was compared with: another, once it changes
	until  time.Time
}

func newRemembered(now func() time.Time, key []byte) *remembered {
	return &remembered{now: now, key: key, entries: map[[sha256.Size]byte]success{}}
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
	key := r.keyOf(name, password)
	r.mu.Lock()
	defer r.mu.Unlock()
	s, ok := r.entries[key]
	if ok && (s.stored != stored || !r.now().Before(s.until)) {
		delete(r.entries, key)
		return false
	}
	return ok
}

func (r *remembered) add(name, password, stored string) {
	key := r.keyOf(name, password)
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.entries) >= maxRemembered {
		clear(r.entries)
	}
	r.entries[key] = success{stored, r.now().Add(rememberFor)}
}
