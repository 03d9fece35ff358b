package teams

import "strings"

// special reports whether s has anything that appendEscaped would change.
func special(s string) bool {
	for i := range len(s) {
		switch meanings[s[i]] {
		case anywhere:
			return true
		case inFront:
			if i == 0 || s[i-1] == ' ' {
				return true
			}
		}
	}
	return false
}

// meaning says where a byte may mean something to Teams.
type meaning uint8

const (
	nowhere meaning = iota
	anywhere
	inFront // of a word
)

var meanings = func() (m [256]meaning) {
	for b := range byte(' ') {
		m[b] = anywhere
	}
	for _, b := range []byte("\\*_[]`~<{&") {
		m[b] = anywhere
	}
	for _, b := range []byte(" -+#>0123456789") {
		m[b] = inFront
	}
	return m
}()

// noBreak is a space that Markdown takes for a letter: four plain ones at the
// start of a line would make code of it, and of several in a row one would be
// shown.
const noBreak = "\u00A0"

// appendEscaped appends text so that Teams shows it as it is: of Markdown,
// Teams knows emphasis, lists, links and entities. A line break becomes two,
// since one counts as a space there. `<at>`, which mentions a user, and `{{`,
// which starts a date, have no escape: a character without width keeps them
// apart.
func appendEscaped(to []byte, s string) []byte {
	lineStart, space := true, false
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b == '\n' {
			for i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
			to = append(to, "\n\n"...)
			lineStart, space = true, false
			continue
		}
		if b <= ' ' {
			if lineStart || space {
				to = append(to, noBreak...)
			} else {
				to = append(to, ' ')
			}
			space = true
			continue
		}
		space = false
		switch {
		case b == '\\', b == '*', b == '_', b == '[', b == ']', b == '`', b == '~':
			to = append(to, '\\', b)
		case lineStart && (b == '-' || b == '+' || b == '#' || b == '>'):
			to = append(to, '\\', b)
		case lineStart && '0' <= b && b <= '9':
			n := numbered(s[i:])
			to = append(to, s[i:i+n]...)
			i += n - 1
			if i+1 < len(s) && (s[i+1] == '.' || s[i+1] == ')') {
				i++
				to = append(to, '\\', s[i])
			}
		case b == '&' && entity(s[i+1:]):
			to = append(to, "&amp;"...)
		case b == '<' && autolink(s[i+1:]):
			to = append(to, "&lt;"...)
		case b == '<' && mention(s[i+1:]), b == '{' && strings.HasPrefix(s[i+1:], "{"):
			to = append(to, b)
			to = append(to, "\u200B"...)
		default:
			to = append(to, b)
		}
		lineStart = false
	}
	return to
}

// maxEntity is more than the longest name of a character in HTML has, which is
// CounterClockwiseContourIntegral.
const maxEntity = 34

// entity reports whether s, which follows a "&", goes on as a character's name or
// number.
func entity(s string) bool {
	name, _, found := strings.Cut(s[:min(len(s), maxEntity)], ";")
	return found && name != "" && strings.Trim(name, "#0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
}

// autolink reports whether s, which follows a "<", goes on as an address and a
// ">", which Markdown shows without the two.
func autolink(s string) bool {
	address, _, found := strings.Cut(s, ">")
	return found && strings.ContainsAny(address, ":@") && !strings.ContainsAny(address, "< \n")
}

// numbered is how many digits s starts with.
func numbered(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// mention reports whether s, which follows a "<", goes on as a mention's tag.
func mention(s string) bool {
	s = strings.TrimPrefix(s, "/")
	return len(s) >= 2 && strings.EqualFold(s[:2], "at")
}

// appendURL appends an address between the parentheses of a link.
func appendURL(to []byte, url string) []byte {
	for i := range len(url) {
		switch b := url[i]; b {
		case '(':
			to = append(to, "%28"...)
		case ')':
			to = append(to, "%29"...)
		default:
			to = append(to, b)
		}
	}
	return to
}
