package secret

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"

	"outrigger/internal/db"
	"outrigger/internal/fault"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the canary that proves the key.
var Migrations = db.Migrations{Name: "secret", FS: migrations}

// keyIDSize is the length of a key's id in front of everything sealed with
// it. 8 bytes tell any keys apart that one installation ever has.
const keyIDSize = 8

// The canary is sealed like any other row, under this place.
const (
	canaryTable  = "secret_canary"
	canaryColumn = "sealed"
	canaryRow    = "1"
	canaryText   = "the key fits"
)

// Box encrypts what is stored, with AES-256-GCM. What it seals carries the id
// of its key and opens only with that key, and only in the table, column and
// row that it was sealed for. A Box is safe for concurrent use.
type Box struct {
	current  sealer
	previous *sealer // opens what a rotation has not reached; seals nothing
}

type sealer struct {
	id   [keyIDSize]byte
	aead cipher.AEAD // puts its random nonce in front by itself
}

// Open makes a Box of the 32-byte key and proves it on the canary row that the
// first start left. previous (nil: none) is the key before a rotation: what it
// sealed still opens. A key that does not fit is refused with a sentence.
func Open(ctx context.Context, d *db.DB, key, previous []byte) (*Box, error) {
	b := &Box{}
	var err error
	if b.current, err = newSealer(key); err != nil {
		return nil, fmt.Errorf("encryption key: %w", err)
	}
	if previous != nil {
		s, err := newSealer(previous)
		if err != nil {
			return nil, fmt.Errorf("previous encryption key: %w", err)
		}
		b.previous = &s
	}
	canary, err := b.canary(ctx, d)
	if err != nil {
		return nil, err
	}
	text, err := b.Unseal(canary, canaryTable, canaryColumn, canaryRow)
	if err != nil || text != canaryText {
		return nil, fault.Wrap(err, fault.Conflict, "The encryption key does not match this database. Use the key that it was created "+
			"with, as secret_key or as the file secret.key in data_dir. After changing secret_key, set secret_key_previous to the old "+
			"key. If the key is lost for good, run outrigger secrets forget.")
	}
	return b, nil
}

// canary reads the canary row, after laying it where there is none. Of two
// nodes that start at once one lays it, and both read that one.
func (b *Box) canary(ctx context.Context, d *db.DB) (sealed []byte, err error) {
	const what = "proving the encryption key"
	if err := d.Do(ctx, what, `INSERT INTO secret_canary (id, sealed) VALUES (1, $1) ON CONFLICT (id) DO NOTHING`,
		b.Seal(canaryText, canaryTable, canaryColumn, canaryRow)); err != nil {
		return nil, err
	}
	err = d.Get(ctx, what, []any{&sealed}, `SELECT sealed FROM secret_canary WHERE id = 1`)
	return sealed, err
}

// hasCanary reports whether a key was ever proved on this database.
func hasCanary(ctx context.Context, d *db.DB) (has bool, err error) {
	err = d.Get(ctx, "looking for a key that was proved", []any{&has}, `SELECT COUNT(*) > 0 FROM secret_canary`)
	return has, err
}

func newSealer(key []byte) (sealer, error) {
	if len(key) != KeySize {
		return sealer{}, fmt.Errorf("%d bytes instead of %d", len(key), KeySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return sealer{}, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return sealer{}, err
	}
	s := sealer{aead: aead}
	// The label keeps the id from being the key's plain hash.
	sum := sha256.Sum256(append([]byte("outrigger key id\x00"), key...))
	copy(s.id[:], sum[:])
	return s, nil
}

// Seal encrypts plain for one place in the database.
func (b *Box) Seal(plain string, table, column, row string) []byte {
	out := append(make([]byte, 0, keyIDSize+len(plain)+b.current.aead.Overhead()), b.current.id[:]...)
	return b.current.aead.Seal(out, nil, []byte(plain), place(table, column, row))
}

// Unseal decrypts what Seal made for this place. Its errors hold nothing of
// what was sealed.
func (b *Box) Unseal(sealed []byte, table, column, row string) (string, error) {
	if len(sealed) < keyIDSize {
		return "", fmt.Errorf("sealed value of %s.%s is cut off", table, column)
	}
	s, err := b.sealerOf([keyIDSize]byte(sealed))
	if err != nil {
		return "", fmt.Errorf("sealed value of %s.%s: %w", table, column, err)
	}
	plain, err := s.aead.Open(nil, nil, sealed[keyIDSize:], place(table, column, row))
	if err != nil {
		return "", fmt.Errorf("sealed value of %s.%s is damaged or from another row: %w", table, column, err)
	}
	return string(plain), nil
}

// ErrOtherKey is why a value does not open that was sealed with a key which is not
// configured. While a key is changed node by node, other nodes have it.
var ErrOtherKey = errors.New("sealed with a key that is not configured")

func (b *Box) sealerOf(id [keyIDSize]byte) (*sealer, error) {
	switch {
	case id == b.current.id:
		return &b.current, nil
	case b.previous != nil && id == b.previous.id:
		return b.previous, nil
	}
	return nil, ErrOtherKey
}

// place is the additional data of a seal. Lengths go in front, so that no two
// places read alike.
func place(table, column, row string) []byte {
	var out []byte
	for _, part := range []string{table, column, row} {
		out = binary.BigEndian.AppendUint32(out, uint32(len(part)))
		out = append(out, part...)
	}
	return out
}
