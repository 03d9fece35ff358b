package secret

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

// KeySize is the length of an encryption key in bytes: AES-256.
const KeySize = 32

// keyFile is the name of a generated key in the data folder.
const keyFile = "secret.key"

// LoadKey returns the encryption key: the configured one (32 bytes in base64),
// else that of dir/secret.key. On a first start, when the database d has nothing
// sealed yet, the file is generated; otherwise one that is missing is
// fault.Conflict, since a new key would open nothing. The file is for its owner
// only, and on disk before LoadKey returns.
func LoadKey(ctx context.Context, d *db.DB, configured Value, dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	if configured.IsZero() {
		has, err := HasKeyFile(dir)
		if err == nil && !has {
			err = firstKey(ctx, d, dir, path)
		}
		if err != nil {
			return nil, err
		}
	}
	return readKey(configured, path)
}

// readKey returns the configured key, else that of the file.
func readKey(configured Value, path string) ([]byte, error) {
	if !configured.IsZero() {
		key, err := parseKey(configured.Reveal())
		if err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "secret_key is not a key: give 32 bytes in base64, as `openssl rand -base64 32` prints them.")
		}
		return key, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the encryption key: %w", err)
	}
	key, err := parseKey(string(text))
	if err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "%s holds no key: put back the file that belongs to this data folder (32 bytes in base64).",
			path)
	}
	return key, nil
}

// LoadKeyOrNew is LoadKey for a database whose key is lost: where neither the
// setting nor the file gives one, it makes a new file.
func LoadKeyOrNew(configured Value, dir string) ([]byte, error) {
	path := filepath.Join(dir, keyFile)
	if configured.IsZero() {
		if err := generateKey(dir, path); err != nil {
			return nil, fmt.Errorf("generating the encryption key: %w", err)
		}
	}
	return readKey(configured, path)
}

// HasKeyFile reports whether a data folder has a key.
func HasKeyFile(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, keyFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// firstKey generates the key of a database that never had one.
func firstKey(ctx context.Context, d *db.DB, dir, path string) error {
	used, err := hasCanary(ctx, d)
	if err != nil {
		return err
	}
	if used {
		return fault.New(fault.Conflict, "The key file %s is missing, but the database is encrypted. Restore the file, or set the key "+
			"as secret_key. If it is lost for good, run outrigger secrets forget.", path)
	}
	if err := generateKey(dir, path); err != nil {
		return fmt.Errorf("generating the encryption key: %w", err)
	}
	return nil
}

func parseKey(text string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		// The cause would quote nothing of the key, but says no more either.
		return nil, errors.New("not base64")
	}
	if len(key) != KeySize {
		return nil, fmt.Errorf("%d bytes instead of %d", len(key), KeySize)
	}
	return key, nil
}

// generateKey writes a new key under another name, syncs it, and only then
// gives it its own: the file is whole for every reader, after a crash and when
// two processes start at once. The first one's key stays.
func generateKey(dir, path string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return placeKey(dir, path, func(draft string) error {
		err := os.Link(draft, path)
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return errors.Join(err, os.Remove(draft))
	})
}

// replaceKey is generateKey where the key that is there goes.
func replaceKey(dir, path string) error {
	return placeKey(dir, path, func(draft string) error { return os.Rename(draft, path) })
}

func placeKey(dir, path string, place func(draft string) error) error {
	key := make([]byte, KeySize)
	_, _ = rand.Read(key) // never fails (crypto/rand)
	draft := path + "." + Random(6)
	if err := writeSynced(draft, base64.StdEncoding.EncodeToString(key)+"\n"); err != nil {
		return errors.Join(err, os.Remove(draft))
	}
	return errors.Join(place(draft), syncDir(dir))
}

func writeSynced(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Sync(), f.Close())
}

// syncDir makes a new name in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Random returns n random bytes in base64url without padding. 32 of them make a
// token.
func Random(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}

// Fingerprint recognises a secret without holding it: its SHA-256. That is
// enough for what is long and random (a token, a webhook URL), and not for a
// password.
func Fingerprint(s string) []byte {
	sum := sha256.Sum256([]byte(s))
	return sum[:]
}
