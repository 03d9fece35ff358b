package relay

import (
	"net"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAddress is the longest address: RFC 5321, 4.5.3.1.3, without the angle
// brackets.
const maxAddress = 254

var (
	errAddress      = refusal(501, 5, 1, 3, "That is not an address.")
	errAddressLong  = refusal(501, 5, 1, 3, "The address is longer than 254 bytes.")
	errAddressASCII = refusal(553, 5, 6, 7, "An address that is not ASCII needs SMTPUTF8.")
)

// checkAddress looks at an address as the library gives it, its quotes taken
// off.
func checkAddress(address string, allowUTF8 bool) error {
	if len(address) > maxAddress {
		return errAddressLong
	}
	if !utf8.ValidString(address) || strings.ContainsFunc(address, unicode.IsControl) {
		return errAddress
	}
	if !allowUTF8 && hasEightBit([]byte(address)) {
		return errAddressASCII
	}
	local, domain := cutAddress(address)
	if local == "" || !isDomain(domain) {
		return errAddress
	}
	return nil
}

// cutAddress cuts at the last @: one that was quoted may have another before.
func cutAddress(address string) (local, domain string) {
	i := strings.LastIndexByte(address, '@')
	if i < 0 {
		return "", ""
	}
	return address[:i], address[i+1:]
}

// isDomain takes names and address literals.
func isDomain(domain string) bool {
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		literal, closed := strings.CutSuffix(literal, "]")
		literal = strings.TrimPrefix(literal, "IPv6:")
		return closed && net.ParseIP(literal) != nil
	}
	return domain != "" && !strings.ContainsAny(domain, " ()<>[]:;,\"\\@")
}

// token makes a name fit for a Received: line: what is not plain ASCII in a
// client's greeting is replaced.
func token(s string) string {
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r > '~' || strings.ContainsRune("()<>;,\"\\", r) {
			return '?'
		}
		return r
	}, s)
	if s == "" {
		return "unknown"
	}
	return s[:min(len(s), maxAddress)]
}
