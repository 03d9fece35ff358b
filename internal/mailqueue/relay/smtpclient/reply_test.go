package smtpclient

import (
	"bufio"
	"regexp"
	"strings"
	"testing"
)

// Addresses are written with the quotes that they need.
func TestPath(t *testing.T) {
	for address, want := range map[string]string{
		"":                          "<>",
		"a@example.com":             "<a@example.com>",
		"a.b+c=d/e'f@example.com":   "<a.b+c=d/e'f@example.com>",
		"a..b@example.com":          "<a..b@example.com>",
		"john doe@example.com":      `<"john doe"@example.com>`,
		"a@b@example.com":           `<"a@b"@example.com>`,
		`a"b\c@example.com`:         `<"a\"b\\c"@example.com>`,
		"a,b@example.com":           `<"a,b"@example.com>`,
		"ü@exämple.com":             "<ü@exämple.com>",
		"a@[192.0.2.1]":             "<a@[192.0.2.1]>",
		"a> SIZE=1@example.com":     `<"a> SIZE=1"@example.com>`,
		"a@[IPv6:2001:db8::1]":      "<a@[IPv6:2001:db8::1]>",
		"undisclosed-recipients:;@": `<"undisclosed-recipients:;"@>`,
	} {
		if got := Path(address); got != want {
			t.Errorf("%q is written %s, want %s", address, got, want)
		}
	}
}

var enhanced = regexp.MustCompile(`^[245]\.[0-9]{1,3}\.[0-9]{1,3}$`)

func FuzzReply(f *testing.F) {
	for _, s := range []string{"250 OK\r\n", "550 5.1.1 No\r\n", "550 5.1.\r\n", "250-a\r\n250 b\r\n", "250\r\n", "250-a\r\n550 b\r\n", "x\r\n", "250-\n250 \n", "999 x\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, said string) {
		r, err := readReply(bufio.NewReaderSize(strings.NewReader(said), maxReplyLine))
		if err == nil && (r.Code < 200 || r.Code > 599 || len(r.Lines) == 0 || len(r.Lines) > maxReplyLines) {
			t.Errorf("%q is read as %+v", said, r)
		}
		if code := r.Enhanced(); code != "" && !enhanced.MatchString(code) {
			t.Errorf("%q has the enhanced code %q", said, code)
		}
		if text := r.String(); strings.ContainsRune(text, 0) || len(text) > 2<<10 {
			t.Errorf("%q is shown as %q", said, text)
		}
	})
}
