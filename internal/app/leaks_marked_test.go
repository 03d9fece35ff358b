package app

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// marked are secrets by what they are, to be looked for.
type marked map[string]string

// make returns a secret that is spelled otherwise in a URL, and in base64.
func (m marked) make(name string) string {
	m[name] = "Mk+" + name + "/" + rand.Text()
	return m[name]
}

// spellings are the forms in which a secret may show: as it is, in a URL, in
// HTML and JSON, in hex, and in base64 at each of the three places that it can have in
// a longer text, such as that of Basic credentials.
func spellings(s string) []string {
	forms := []string{s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s), hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
	for _, is := range []string{s, url.QueryEscape(s)} { // OAuth clients escape what Basic encodes
		for before := range 3 {
			b := append(make([]byte, before), is...)
			b = b[:len(b)/3*3]
			for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
				text := e.EncodeToString(b)
				forms = append(forms, text[[]int{0, 2, 3}[before]:])
			}
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(forms)))
}

// in names the secrets that a text shows.
func (m marked) in(text []byte) (found []string) {
	for name, s := range m {
		for _, form := range spellings(s) {
			if at := bytes.Index(text, []byte(form)); at >= 0 {
				found = append(found, fmt.Sprintf("%s as %q in %q", name, form, text[max(0, at-80):min(len(text), at+len(form)+20)]))
			}
		}
	}
	return found
}

// Each spelling is found, wherever it begins in a longer text.
func TestSpellingsAreFound(t *testing.T) {
	m := marked{}
	s := m.make("x")
	texts := []string{s, "sig=" + url.QueryEscape(s), hex.EncodeToString([]byte(s)), fmt.Sprintf("%X", s), html.EscapeString("a=" + s)}
	for before := range 4 {
		plain := []byte(strings.Repeat("u", before) + s + "more")
		escaped := []byte(strings.Repeat("u", before) + url.QueryEscape(s) + "more")
		texts = append(texts, base64.StdEncoding.EncodeToString(plain), base64.RawURLEncoding.EncodeToString(plain), base64.StdEncoding.EncodeToString(escaped))
	}
	for _, text := range texts {
		if len(m.in([]byte(text))) == 0 {
			t.Errorf("%s is not found in %s", s, text)
		}
	}
	if found := m.in([]byte("Mk+x/" + rand.Text())); len(found) > 0 {
		t.Errorf("found %s", found)
	}
}
