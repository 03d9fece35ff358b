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

var errChecksum = errors.New("the checksum does not fit")

// readChecked reads the body of a request that has Upload-Checksum, errChecksum where
// it does not fit; nil for one that has none, whose body is left alone.
func readChecked(r *http.Request) ([]byte, error) {
	header := r.Header.Get("Upload-Checksum")
	if header == "" {
		return nil, nil
	}
	algorithm, encoded, _ := strings.Cut(header, " ")
	want, err := base64.StdEncoding.DecodeString(encoded)
	var sum hash.Hash
	switch algorithm {
	case "sha1":
		sum = sha1.New()
	case "sha256":
		sum = sha256.New()
	default:
		return nil, fault.New(fault.Invalid, "Upload-Checksum supports %s, not %q.", algorithms, algorithm)
	}
	if err != nil {
		return nil, fault.New(fault.Invalid, "Upload-Checksum is an algorithm, a space and the checksum in base64.")
	}
	data, err := io.ReadAll(io.LimitReader(r.Body, maxChecked+1))
	switch {
	case len(data) > maxChecked:
		return nil, fault.New(fault.TooLarge, "A body with a checksum has at most %s; send the file in parts.", config.Size(maxChecked))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return nil, fault.Wrap(err, fault.Invalid, "The body broke off; nothing was stored. Send it again.")
	case err != nil:
		return nil, err
	}
	if sum.Write(data); !bytes.Equal(sum.Sum(nil), want) {
		return nil, errChecksum
	}
	return data, nil
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
