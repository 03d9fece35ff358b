package hook

import (
	"strings"
	"testing"

	"outrigger/internal/secret"
)

func valid(header string, body []byte, secrets ...secret.Value) bool {
	return readSignature(header).of(body, secrets)
}

func TestSignature(t *testing.T) {
	body := []byte(`{"eventKey":"pr:opened"}`)
	key := secret.New("test-secret")
	good := Sign(body, key)
	cases := []struct {
		name, header string
		want         bool
	}{
		{"right", good, true},
		{"right, in capitals", "sha256=" + strings.ToUpper(good[7:]), true},
		{"none", "", false},
		{"the prefix alone", "sha256=", false},
		{"shorter than the prefix", "sha25", false},
		{"no prefix", good[7:], false},
		{"another algorithm", "sha1=" + good[7:], false},
		{"prefix in capitals", "SHA256=" + good[7:], false},
		{"one digit short", good[:len(good)-1], false},
		{"one digit more", good + "0", false},
		{"not hex", "sha256=" + strings.Repeat("g", 64), false},
		{"a space in front", " " + good, false},
		{"another body's", Sign([]byte("{}"), key), false},
		{"another secret's", Sign(body, secret.New("other")), false},
		{"very long", "sha256=" + strings.Repeat("a", 1<<20), false},
		{"NUL", "sha256=" + strings.Repeat("\x00", 64), false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := valid(c.header, body, key); got != c.want {
				t.Errorf("valid: %v, want %v", got, c.want)
			}
		})
	}
	if valid(good, body) {
		t.Error("valid with no secret at all")
	}
	if valid(Sign(body, secret.New("")), body, secret.New("")) {
		t.Error("valid with an empty secret")
	}
	if !valid(good, body, secret.New("new"), key) {
		t.Error("not valid under the second of two secrets")
	}
}

func FuzzSignature(f *testing.F) {
	key := secret.New("k")
	f.Add("sha256=00", []byte("{}"))
	f.Add(Sign([]byte("{}"), key), []byte("{}"))
	f.Fuzz(func(t *testing.T, header string, body []byte) {
		got := valid(header, body, key)
		want := len(header) == 71 && strings.HasPrefix(header, "sha256=") && strings.EqualFold(header, Sign(body, key))
		if got != want {
			t.Errorf("valid(%q) = %v", header, got)
		}
	})
}
