package rest

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// CSVCell keeps spreadsheets from running a cell of CSV as a formula: one that
// begins like a formula, also in full-width characters or after spaces, gets an
// apostrophe before it (https://owasp.org/www-community/attacks/CSV_Injection).
func CSVCell(text string) string {
	trimmed := strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) })
	first, _ := utf8.DecodeRuneInString(trimmed)
	if trimmed != "" && strings.ContainsRune("=+-@＝＋－＠", first) || text != "" && strings.ContainsRune("\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
