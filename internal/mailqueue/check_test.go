package mailqueue

import "testing"

// An address that would end a command, or is none, is refused.
func TestJudgeCheck(t *testing.T) {
	for _, test := range []struct {
		from, to string
		ok       bool
	}{
		{"", "", true}, {"", "a@example.com", true}, {"b@example.com", "a@example.com", true},
		{"b@example.com", "", false}, {"", "ann", false}, {"", "a@example.com\r\nDATA", false}, {"", "<a@example.com>", false}, {"b c@d", "a@example.com", false},
	} {
		if err := JudgeCheck(test.from, test.to); (err == nil) != test.ok {
			t.Errorf("from %q to %q: %v", test.from, test.to, err)
		}
	}
}
