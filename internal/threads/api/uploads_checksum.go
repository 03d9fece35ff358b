package api

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"

	"outrigger/internal/config"
	"outrigger/internal/fault"
)

const (
	algorithms = "sha1,sha256"

	// maxChecked is how long a body with a checksum may be: it is in memory as
	// a whole before any of it is stored.
	maxChecked = 8 << 20
)

// checked is a body that came with a checksum.
type checked struct {
	data []byte
	sum  []byte // as it was sent
	hash hash.Hash
}

// wrong reports whether the checksum does not fit; a body without one fits.
func (c *checked) wrong() bool {
	if c == nil {
		return false
	}
	c.hash.Write(c.data)
	return !bytes.Equal(c.hash.Sum(nil), c.sum)
}

// readChecked reads the body of a request that has Upload-Checksum; nil for
// one that has none, whose body is left alone.
func readChecked(r *http.Request) (*checked, error) {
	header := r.Header.Get("Upload-Checksum")
	if header == "" {
		return nil, nil
	}
	algorithm, encoded, _ := strings.Cut(header, " ")
	sum, err := base64.StdEncoding.DecodeString(encoded)
	c := &checked{sum: sum}
	switch {
	case algorithm == "sha1":
		c.hash = sha1.New()
	case algorithm == "sha256":
		c.hash = sha256.New()
	default:
		return nil, fault.New(fault.Invalid, "Upload-Checksum supports %s, not %q.", algorithms, algorithm)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "Upload-Checksum is an algorithm, a space and the checksum in base64.")
	}
	c.data, err = io.ReadAll(io.LimitReader(r.Body, maxChecked+1))
	switch {
	case len(c.data) > maxChecked:
		return nil, fault.New(fault.TooLarge, "A body with a checksum has at most %s; send the file in parts.", config.Size(maxChecked))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fault.Wrap(err, fault.Invalid, "The body broke off; nothing was stored. Send it again.")
	}
	return c, err
}

// parseMetadata reads Upload-Metadata: names, each with its value in base64
// behind a space, or without one.
func parseMetadata(header string) (map[string]string, error) {
	meta := map[string]string{}
	if header == "" {
		return meta, nil
	}
	for pair := range strings.SplitSeq(header, ",") {
		name, encoded, _ := strings.Cut(strings.TrimSpace(pair), " ")
		value, err := base64.StdEncoding.DecodeString(encoded)
		if _, twice := meta[name]; twice || name == "" || err != nil {
			return nil, errors.New("malformed Upload-Metadata")
		}
		meta[name] = strings.ReplaceAll(strings.ToValidUTF8(string(value), "�"), "\x00", "�")
	}
	return meta, nil
}
