package identity

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"outrigger/internal/fault"
	"outrigger/internal/limit"
)

const (
	saltSize = 16
	hashSize = 32

	// maxHashing bounds the memory for passwords to 38 MiB.
	maxHashing = 2
	// hashPatience is how long a sign-in waits for its turn. Two at a time get
	// hundreds of passwords done in it.
	hashPatience = 10 * time.Second
)

// PasswordCost is what one argon2id takes, besides one thread.
type PasswordCost struct {
	Memory uint32 // KiB
	Rounds uint32
}

// owasp is what OWASP's password storage cheat sheet has for 19 MiB.
func owasp() PasswordCost { return PasswordCost{Memory: 19 * 1024, Rounds: 2} }

// hasher computes argon2id, two at a time.
type hasher struct {
	cost    PasswordCost
	limiter *limit.Fair[string] // by address
	// unknownUser is the hash that passwords of unknown users are compared with, so that
	// they take as long as others.
	unknownUser string
}

func newHasher(c PasswordCost) *hasher {
	return &hasher{cost: c, limiter: newLimiter(maxHashing), unknownUser: c.phc(newSalt(), make([]byte, hashSize))}
}

func newSalt() []byte {
	salt := make([]byte, saltSize)
	rand.Read(salt) // never fails
	return salt
}

// newLimiter makes a limiter by address, so that a flood from one keeps nobody else
// waiting.
func newLimiter(n int) *limit.Fair[string] { return limit.NewFair[string](n, hashPatience, errBusy) }

// errBusy is the answer where more passwords wait than can be computed in time.
func errBusy() error {
	busy := fault.New(fault.Unavailable, "Too many passwords are being checked at once. Try again in a moment.")
	busy.RetryAfter = hashPatience
	return busy
}

// hash returns the PHC form of a password.
func (h *hasher) hash(ctx context.Context, password string) (string, error) {
	done, err := h.limiter.Acquire(ctx, OriginOf(ctx).Address)
	if err != nil {
		return "", err
	}
	defer done()
	salt := newSalt()
	return h.cost.phc(salt, argon2.IDKey([]byte(password), salt, h.cost.Rounds, h.cost.Memory, 1, hashSize)), nil
}

// matches reports whether the password is the one of a PHC form that we wrote.
func matches(stored, password string) bool {
	parts := strings.Split(stored, "$")
	if len(parts) != 6 {
		return false
	}
	salt, err1 := base64.RawStdEncoding.DecodeString(parts[4])
	want, err2 := base64.RawStdEncoding.DecodeString(parts[5])
	var memory, rounds uint32
	var threads uint8
	_, err3 := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &rounds, &threads)
	if parts[1] != "argon2id" || parts[2] != "v=19" || err1 != nil || err2 != nil || err3 != nil || len(want) == 0 {
		return false
	}
	got := argon2.IDKey([]byte(password), salt, rounds, memory, threads, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1
}

// phc is the form of https://github.com/P-H-C/phc-string-format.
func (c PasswordCost) phc(salt, hash []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=1$%s$%s",
		argon2.Version, c.Memory, c.Rounds, b64.EncodeToString(salt), b64.EncodeToString(hash))
}
