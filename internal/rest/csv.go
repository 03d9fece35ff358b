package rest

import "strings"

// CSVCell keeps spreadsheets from running a cell of CSV as a formula: one that
// begins like a formula gets an apostrophe before it
// (https://owasp.org/www-community/attacks/CSV_Injection).
func CSVCell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r\n", rune(text[0])) {
		return "'" + text
	}
	return text
}
