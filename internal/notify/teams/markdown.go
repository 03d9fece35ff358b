package teams

import "strings"

// special tells whether s has anything that appendEscaped would change.
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
	for _, b := range []byte("\\*_[]`~<{") {
		m[b] = anywhere
	}
	for _, b := range []byte("-+#>0123456789") {
		m[b] = inFront
	}
	return m
}()

// appendEscaped appends text so that Teams shows it as it is: of Markdown,
// Teams knows emphasis, lists and links. A line break becomes two, since one
// counts as a space there. `<at>`, which names somebody, and `{{`, which
// starts a date, have no escape: a character without width keeps them apart.
func appendEscaped(to []byte, s string) []byte {
	lineStart := true
	for i := 0; i < len(s); i++ {
		b := s[i]
		switch {
		case b == '\n':
			for i+1 < len(s) && s[i+1] == '\n' {
				i++
			}
			to = append(to, "\n\n"...)
			lineStart = true
			continue
		case b < ' ':
			to = append(to, ' ')
			continue
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
		case b == '<' && mention(s[i+1:]), b == '{' && strings.HasPrefix(s[i+1:], "{"):
			to = append(to, b)
			to = append(to, "\u200B"...)
		default:
			to = append(to, b)
		}
		lineStart = lineStart && b == ' '
	}
	return to
}

// numbered is how many digits s starts with.
func numbered(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// mention tells whether s, which follows a "<", goes on as a mention's tag.
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
