package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"outrigger/internal/fault"
)

// previousFile is the name, in the data folder, of the key before a rotation.
const previousFile = keyFile + ".previous"

// LoadPrevious returns the key of before a rotation: the configured one
// (secret_key_previous), else that of dir/secret.key.previous; nil where there
// is none.
func LoadPrevious(configured Value, dir string) ([]byte, error) {
	if !configured.IsZero() {
		key, err := parseKey(configured.Reveal())
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "secret_key_previous is not a key: give the 32 bytes in base64 that secret_key was before.")
		}
		return key, nil
	}
	path := filepath.Join(dir, previousFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the previous encryption key: %w", err)
	}
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "%s holds no key (32 bytes in base64): put the right file back, or remove it where no "+
			"rotation is under way.", path)
	}
	return key, nil
}

// NewKeyFile makes a new key in dir/secret.key and keeps the one of before as
// secret.key.previous, where both are found by the next start.
//
// Errors: fault.Conflict where an earlier rotation left a previous key.
func NewKeyFile(dir string) error {
	path, previous := filepath.Join(dir, keyFile), filepath.Join(dir, previousFile)
	err := os.Link(path, previous)
	if errors.Is(err, fs.ErrExist) && sameContent(path, previous) {
		err = nil // interrupted between this line and the next one
	}
	if errors.Is(err, fs.ErrExist) {
		return fault.New(fault.Conflict, "%s is left from an earlier rotation. Move it to the backups of that time, which need it, then "+
			"rotate again.", previous)
	}
	if err != nil {
		return fmt.Errorf("keeping the present key: %w", err)
	}
	if err := replaceKey(dir, path); err != nil {
		return fmt.Errorf("generating the encryption key: %w", err)
	}
	return nil
}

func sameContent(one, other string) bool {
	a, errA := os.ReadFile(one)
	b, errB := os.ReadFile(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
