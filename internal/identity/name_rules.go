package identity

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"outrigger/internal/fault"
)

// judgeName notes what is wrong with the name of a new user. Basic
// authentication has no name with a colon, a space at an end is never meant, and
// two users do not have names that look the same.
func judgeName(wrong *fault.Fields, name string) {
	switch {
	case name == "":
		wrong.Add("name", "Enter a user name.")
	case utf8.RuneCountInString(name) > maxName:
		wrong.Add("name", "Use at most %d characters.", maxName)
	case strings.TrimSpace(name) != name || strings.ContainsFunc(name, unacceptable):
		wrong.Add("name", "A user name must not contain a colon, a slash or control characters, nor begin or end with a space.")
	case name == "." || name == "..":
		wrong.Add("name", "The names . and .. cannot be used; they mean something else in addresses. Use letters or digits too.")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		wrong.Add("name", "A user name may contain only visible characters and plain spaces.")
	case !norm.NFKC.IsNormalString(name):
		wrong.Add("name", "Use composed characters of normal width; type the name again: %s.", norm.NFKC.String(name))
	case mixesScripts(name):
		wrong.Add("name", "Use letters of one script only: letters of different scripts can look the same.")
	}
}

func unacceptable(r rune) bool {
	return r == ':' || r == '/' || r == utf8.RuneError || unicode.IsControl(r)
}

// scripts that are written together: those of Japanese, Korean and Chinese, and
// Latin among them. So the level "highly restrictive" of Unicode Technical
// Standard 39, 5.2.
var scriptsTogether = [][]string{
	{"Latin", "Han", "Hiragana", "Katakana"},
	{"Latin", "Han", "Hangul"},
	{"Latin", "Han", "Bopomofo"},
}

// mixesScripts reports whether the letters of a name are of scripts that are not
// written together.
func mixesScripts(name string) bool {
	var found []string
	for _, r := range name {
		if s := scriptOf(r); s != "" && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return len(found) > 1 && !slices.ContainsFunc(scriptsTogether, func(together []string) bool {
		return !slices.ContainsFunc(found, func(s string) bool { return !slices.Contains(together, s) })
	})
}

// scriptOf is "" for what every script has: digits, punctuation, accents.
func scriptOf(r rune) string {
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) && name != "Common" && name != "Inherited" {
			return name
		}
	}
	return ""
}
