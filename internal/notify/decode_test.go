package notify

import (
	"errors"
	"testing"
)

func TestCut(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
		more bool
	}{
		{"", 3, "", false}, {"abc", 3, "abc", false}, {"abcd", 3, "abc", true},
		{"äöü", 3, "äöü", false}, {"äöüß", 3, "äöü", true}, {"😀😀", 1, "😀", true}, {"ab", 0, "", true},
	} {
		if got, more := Cut(c.in, c.max); got != c.want || more != c.more {
			t.Errorf("Cut(%q, %d) = %q, %v", c.in, c.max, got, more)
		}
	}
}

func TestEllipsis(t *testing.T) {
	for in, want := range map[string]string{"": "", "äöü": "äöü", "äöüß": "äö…"} {
		if got := Ellipsis(in, 3); got != want {
			t.Errorf("%q becomes %q", in, got)
		}
	}
}

func TestNotUnderstood(t *testing.T) {
	err := NotUnderstood("there is no %s", "pullRequest")
	if !errors.Is(err, ErrNotUnderstood) || err.Error() != "body not understood: there is no pullRequest" {
		t.Fatal(err)
	}
}
