package identity

import (
	_ "embed" // the list of common passwords
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
		wrong.Add(field, "Use at least %d characters.", minPassword)
	case len(p) > maxPassword:
		wrong.Add(field, "Use at most 1,024 bytes.")
	case strings.HasPrefix(p, tokenPrefix):
		wrong.Add(field, "A password must not begin with %s, which is the prefix of tokens.", tokenPrefix)
	case !utf8.ValidString(p):
		wrong.Add(field, "A password must be valid UTF-8.")
	case strings.ContainsFunc(p, unicode.IsControl):
		wrong.Add(field, "A password must not contain control characters.")
	case isNameOnly(p, name):
		wrong.Add(field, "The password must not be the user name with digits or punctuation added.")
	case isNameOnly(p, productName):
		wrong.Add(field, "The password must not be the name of this program with digits or punctuation added.")
	case isCommon(p):
		wrong.Add(field, "This is one of the 10,000 most common passwords, perhaps with digits or punctuation added. Choose another one.")
	case repeats(p):
		wrong.Add(field, "The password only repeats a few characters. Choose another one.")
	}
}

// JudgePassword says what is wrong with a new password of the user of that name.
func JudgePassword(name string, password secret.Value) error {
	var wrong fault.Fields
	judgePassword(&wrong, "password", name, password)
	return wrong.Err()
}

// isCommon reports whether a password, or what it is without the usual
// embellishments, is on the list.
func isCommon(password string) bool {
	password = strings.ToLower(password)
	plain := []string{password}
	// As many digits as are a password by themselves are no embellishment.
	if core := strings.TrimFunc(password, notLetter); utf8.RuneCountInString(password)-utf8.RuneCountInString(core) < minPassword {
		plain = append(plain, strings.TrimFunc(password, notWord), core, unleet.Replace(core),
			strings.TrimFunc(unleet.Replace(password), notLetter))
	}
	for line := range strings.Lines(commonPasswords) {
		if slices.Contains(plain, strings.TrimSuffix(line, "\n")) {
			return true
		}
	}
	return false
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }
func notWord(r rune) bool   { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// unleet reads the digits and signs that stand for letters.
var unleet = strings.NewReplacer("0", "o", "1", "i", "!", "i", "3", "e", "4", "a", "@", "a", "5", "s", "$", "s", "7", "t")

// minDistinct is how many different characters a password has: a die's throws
// written down have up to six, a key held down one or two.
const minDistinct = 4

// repeats reports whether a password is one short piece several times, or a few
// characters again and again.
func repeats(password string) bool {
	p := []rune(strings.ToLower(password))
	if len(slices.Compact(slices.Sorted(slices.Values(p)))) < minDistinct {
		return true
	}
	for n := 1; n < minPassword && n <= len(p)/2; n++ {
		if slices.Equal(p[n:], p[:len(p)-n]) {
			return true
		}
	}
	return false
}

// isNameOnly reports whether the letters of a password are those of a name, once
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
