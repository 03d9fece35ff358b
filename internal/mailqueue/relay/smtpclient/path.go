package smtpclient

import "strings"

// Path writes an address for MAIL and RCPT, with quotes where its local part
// needs them.
func Path(address string) string {
	at := strings.LastIndexByte(address, '@') // a quoted local part may have another
	if at < 0 || !strings.ContainsFunc(address[:at], needsQuotes) {
		return "<" + address + ">"
	}
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(address[:at])
	return `<"` + quoted + `"` + address[at:] + ">"
}

// needsQuotes reports whether a character is none of an atom, and no dot: RFC
// 5322, 3.2.3.
func needsQuotes(r rune) bool {
	return r <= ' ' || r == 0x7f || strings.ContainsRune(`()<>[]:;@\,"`, r)
}
