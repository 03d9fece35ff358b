package identity

import (
	"strings"
	"testing"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

func TestPasswordRules(t *testing.T) {
	for _, c := range []struct{ user, password, says string }{
		{"ann", goodPassword, ""},
		{"ann", "8374629105", ""},
		{"ann", "пароль-пароль", ""},
		{"ann", "short", "at least 10 characters"},
		{"ann", strings.Repeat("ä", 9), "at least 10 characters"},
		{"ann", strings.Repeat("a", maxPassword+1), "at most 1,024 bytes"},
		{"ann", tokenPrefix + "abcdefghij", "the prefix of tokens"},
		{"ann", "password123", "most common"},
		{"ann", "PassWord123", "most common"},
		{"ann", "Password2026", "most common"},
		{"ann", "P@ssw0rd!2026", "most common"},
		{"ann", "!!Summer2026!", "most common"},
		{"ann", "Welc0me-2024", "most common"},
		{"ann", "1q2w3e4r5t!", "most common"},
		{"ann", "password-8374629105", ""}, // as many digits as a password of digits
		{"ann", "summer canoe 2026", ""},
		{"ann", "aaaaaaaaaaaa", "repeats"},
		{"ann", "abababababab", "repeats"},
		{"ann", "canoe!canoe!canoe!", "repeats"},
		{"ann", "1112221112221", "repeats"},
		{"ann", "aaaaaaaabbac", "repeats"},
		{"ann", "1352461352644", ""},
		{"ann", "correct\x00horse battery", "control character"},
		{"ann", "correct\nhorse battery", "control character"},
		{"ann", "correct\xffhorse battery", "UTF-8"},
		{"ann", "1234567890", "most common"},
		{"annabella", "annabella1", "must not be the user name"},
		{"annabella", "2026-AnnaBella!", "must not be the user name"},
		{"ann", "ann.ann.ann.ann", "must not be the user name"},
		{"ann", "Outrigger2026!", "name of this program"},
		{"ann", "outrigger in the harbour", ""},
		{"8374629105", "8374629105", ""}, // digits are no name
	} {
		var wrong fault.Fields
		judgePassword(&wrong, "password", c.user, secret.New(c.password))
		switch {
		case c.says == "" && len(wrong) > 0:
			t.Errorf("%q of %s: %s", c.password, c.user, wrong[0].Message)
		case c.says != "" && (len(wrong) != 1 || wrong[0].Name != "password" || !strings.Contains(wrong[0].Message, c.says)):
			t.Errorf("%q of %s: %v, want %q", c.password, c.user, wrong, c.says)
		}
	}
}
