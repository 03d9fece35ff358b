package smtpd

import (
	"net/netip"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxAddress is the longest address: RFC 5321, 4.5.3.1.3, without the angle
// brackets.
const maxAddress = 254

// parameter is one of MAIL or RCPT: RFC 5321, 4.1.2.
type parameter struct {
	name  string // in upper case
	value string // empty for none
}

// parsePath reads what stands behind MAIL or RCPT: FROM: or TO:, an address in
// angle brackets, which it gives without them, and parameters. A source route
// is left out, as RFC 5321, appendix C, asks.
func parsePath(s, prefix string) (path string, parameters []parameter, ok bool) {
	if len(s) < len(prefix) || upper(s[:len(prefix)]) != prefix {
		return "", nil, false
	}
	s, ok = strings.CutPrefix(strings.TrimLeft(s[len(prefix):], " "), "<")
	end := closingBracket(s)
	if !ok || end < 0 {
		return "", nil, false
	}
	path = s[:end]
	if route, rest, found := strings.Cut(path, ":"); found && strings.HasPrefix(route, "@") {
		path = rest
	}
	for _, one := range strings.Fields(s[end+1:]) {
		name, value, _ := strings.Cut(one, "=")
		parameters = append(parameters, parameter{upper(name), value})
	}
	return path, parameters, true
}

// closingBracket is where the > is that is not in quotes, -1 for nowhere.
func closingBracket(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if quoted {
				i++
			}
		case '"':
			quoted = !quoted
		case '>':
			if !quoted {
				return i
			}
		}
	}
	return -1
}

// parseRecipient is parseAddress, and takes postmaster without a domain: RFC
// 5321, 4.5.1.
func parseRecipient(path string, allowUTF8 bool) (string, *Reply) {
	if strings.EqualFold(path, "postmaster") {
		return path, nil
	}
	return parseAddress(path, allowUTF8)
}

// parseAddress checks a mailbox of RFC 5321, 4.1.2, and takes the quotes off
// its local part.
func parseAddress(path string, allowUTF8 bool) (string, *Reply) {
	if len(path) > maxAddress {
		return "", replyAddressLong
	}
	if !utf8.ValidString(path) || strings.ContainsFunc(path, unicode.IsControl) {
		return "", replyAddress
	}
	if !allowUTF8 && strings.ContainsFunc(path, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", replyASCII
	}
	local, domain, ok := cutAddress(path)
	if !ok || local == "" || !isDomain(domain) {
		return "", replyAddress
	}
	return local + "@" + domain, nil
}

func cutAddress(path string) (local, domain string, ok bool) {
	if strings.HasPrefix(path, `"`) {
		return cutQuoted(path[1:])
	}
	local, domain, ok = strings.Cut(path, "@")
	return local, domain, ok && !strings.ContainsAny(local, ` ()<>[]:;,\"`)
}

// cutQuoted reads a quoted local part behind its first quote.
func cutQuoted(s string) (local, domain string, ok bool) {
	var text strings.Builder
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			if i++; i == len(s) {
				return "", "", false
			}
			text.WriteByte(s[i])
		case '"':
			domain, ok = strings.CutPrefix(s[i+1:], "@")
			return text.String(), domain, ok
		default:
			text.WriteByte(s[i])
		}
	}
	return "", "", false
}

// isDomain takes names and address literals.
func isDomain(domain string) bool {
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		literal, closed := strings.CutSuffix(literal, "]")
		_, err := netip.ParseAddr(strings.TrimPrefix(literal, "IPv6:"))
		return closed && err == nil
	}
	return domain != "" && !strings.ContainsAny(domain, " ()<>[]:;,\"\\@")
}
