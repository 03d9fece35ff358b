package identity

import (
	"strings"
	"testing"
)

func TestPasswordForm(t *testing.T) {
	h := newHasher(owasp())
	stored, err := h.hash(t.Context(), goodPassword)
	if err != nil {
		t.Fatal(err)
	}
	again, err := h.hash(t.Context(), goodPassword)
	if err != nil || stored == again {
		t.Error("there is no salt")
	}
	if !strings.HasPrefix(stored, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("it is %s", stored)
	}
	if !matches(stored, goodPassword) || matches(stored, goodPassword+"x") || matches(h.unknownUser, goodPassword) {
		t.Error("passwords do not match as they should")
	}
	for _, broken := range []string{
		"", "$", "$argon2id$v=19$m=19456,t=2,p=1$", "$argon2i$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$AAAA",
		"$argon2id$v=16$m=64,t=1,p=1$c2FsdHNhbHQ$AAAA", "$argon2id$v=19$m=64,t=1,p=1$c2FsdHNhbHQ$", "$argon2id$v=19$m=64$c2FsdHNhbHQ$AAAA",
		"$argon2id$v=19$m=64,t=1,p=1$!$AAAA",
	} {
		if matches(broken, "") || matches(broken, goodPassword) {
			t.Errorf("%q matches something", broken)
		}
	}
}
