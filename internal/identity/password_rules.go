package identity

import (
	_ "embed" // the list of common passwords
	"strings"
	"unicode"

	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

const (
	minPassword = 10   // characters
	maxPassword = 1024 // bytes

	productName = "outrigger"
)

//go:embed common_passwords.txt
var commonPasswords string

// judgePassword notes what is wrong with a new password of the user of that
// name.
func judgePassword(wrong *fault.Fields, field, name string, password secret.Value) {
	switch p := password.Reveal(); {
	case len([]rune(p)) < minPassword:
		wrong.Add(field, "A password has at least %d characters.", minPassword)
	case len(p) > maxPassword:
		wrong.Add(field, "A password has at most 1,024 bytes.")
	case strings.HasPrefix(p, tokenPrefix):
		wrong.Add(field, "A password does not begin with %s, as tokens do.", tokenPrefix)
	case isCommon(p):
		wrong.Add(field, "This is one of the 10,000 most common passwords. Choose another.")
	case isNameOnly(p, name):
		wrong.Add(field, "A password is more than the name of the user with digits or punctuation.")
	case isNameOnly(p, productName):
		wrong.Add(field, "A password is more than the name of this program with digits or punctuation.")
	}
}

// JudgePassword says what is wrong with a new password of the user of that name.
func JudgePassword(name string, password secret.Value) error {
	var wrong fault.Fields
	judgePassword(&wrong, "password", name, password)
	return wrong.Err()
}

// isCommon does not look at case.
func isCommon(password string) bool {
	password = strings.ToLower(password)
	for line := range strings.Lines(commonPasswords) {
		if strings.TrimSuffix(line, "\n") == password {
			return true
		}
	}
	return false
}

// isNameOnly tells whether the letters of a password are those of a name, once
// or several times.
func isNameOnly(password, name string) bool {
	rest, name := letters(password), letters(name)
	return name != "" && rest != "" && strings.ReplaceAll(rest, name, "") == ""
}

func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
}
