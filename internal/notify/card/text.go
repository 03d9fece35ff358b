package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/notify"
)

// line makes one line of at most max characters out of s: white space becomes
// single spaces, what cannot be seen is left out.
func line(s string, max int) string {
	if len(s) <= max && plain(s) {
		return s
	}
	s, more := notify.Cut(s, 4*max) // enough, and short: what is left out counts too
	var b strings.Builder
	b.Grow(len(s))
	space, n := false, 0
	for _, r := range s {
		switch {
		case unicode.IsSpace(r):
			space = n > 0
			continue
		case invisible(r):
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		b.WriteRune(r)
		n++
	}
	return cut(b.String(), max, more)
}

// plain reports whether line has nothing to do, for the usual text: printable
// ASCII, and letters of other scripts.
func plain(s string) bool {
	last := byte(' ')
	for i := range len(s) {
		b := s[i]
		if b < ' ' || b == 0x7f || b == ' ' && last == ' ' || b == 0xC2 || b >= 0xE1 && b <= 0xE3 || b >= 0xEF {
			return false // 0xC2, 0xE1 to 0xE3, 0xEF and above may start a space or something invisible
		}
		last = b
	}
	return last != ' ' || s == ""
}

// paragraphs keeps the lines of s, at most one of them empty in a row.
func paragraphs(s string, max int) string {
	s, more := notify.Cut(s, 4*max)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	var b strings.Builder
	b.Grow(min(len(s), max+utf8.UTFMax))
	n, empty := 0, 0
	for l := range strings.Lines(s) {
		if n > max {
			break // the rest is cut off
		}
		l = strings.TrimRight(l, " \t\n\v\f")
		if !printable(l) {
			l = strings.Map(visible, l)
		}
		if l == "" {
			empty++
			continue
		}
		l, _ = notify.Cut(l, max+1-n)
		if b.Len() > 0 {
			b.WriteByte('\n')
			if empty > 0 {
				b.WriteByte('\n')
			}
		}
		empty = 0
		b.WriteString(l)
		n += utf8.RuneCountInString(l) // line breaks left out: one too many is cut off all the same
	}
	return cut(b.String(), max, more)
}

// printable reports whether s is printable ASCII, where there is nothing that
// cannot be seen.
func printable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

// cut shortens to max characters and shows that it did, or that it was done
// before.
func cut(s string, max int, before bool) string {
	if _, now := notify.Cut(s, max); !now && !before {
		return s
	}
	s, _ = notify.Cut(s, max-1)
	return strings.TrimRight(s, " \n") + "…"
}

// visible drops what cannot be seen and makes any other space than a line
// break a plain one.
func visible(r rune) rune {
	switch {
	case r == '\t' || unicode.IsSpace(r) && r != '\n':
		return ' '
	case invisible(r):
		return -1
	}
	return r
}

// invisible characters are control characters, and those that turn the
// direction of text, with which a name could rewrite the sentence around it.
func invisible(r rune) bool {
	return unicode.IsControl(r) || '\u202A' <= r && r <= '\u202E' || '\u2066' <= r && r <= '\u2069' || r == '\uFEFF' || r == '\u200B'
}

// short is the beginning of a commit's hash.
func short(hash string) string {
	if len(hash) > shortHash {
		hash = hash[:shortHash]
	}
	return line(strings.ToValidUTF8(hash, ""), shortHash)
}
