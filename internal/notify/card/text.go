package card

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/notify"
	"outrigger/internal/phrase"
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

// paragraphs keeps the lines of s, at most one of them empty in a row, and at most
// maxText characters.
func paragraphs(s string) string {
	s, more := notify.Cut(s, 4*maxText)
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	b := make([]byte, 0, utf8.UTFMax*maxText)
	n, empty := 0, 0
	for l := range strings.Lines(s) {
		if n > maxText {
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
		l, _ = notify.Cut(l, maxText+1-n)
		if len(b) > 0 {
			breaks := "\n\n"[:min(1+empty, 2)]
			b = append(b, breaks...)
			n += len(breaks)
		}
		empty = 0
		b = append(b, l...)
		n += utf8.RuneCountInString(l)
	}
	if n <= maxText && !more {
		return string(b)
	}
	for ; n >= maxText; n-- { // the last one shows that there were more
		_, size := utf8.DecodeLastRune(b)
		b = b[:len(b)-size]
	}
	return string(append(bytes.TrimRight(b, " \n"), "…"...))
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

// invisible characters are those that rewrite what is around them, and two that have
// no width.
func invisible(r rune) bool { return phrase.Unseen(r) || r == '\uFEFF' || r == '\u200B' }

// short is the beginning of a commit's hash.
func short(hash string) string {
	if len(hash) > shortHash {
		hash = hash[:shortHash]
	}
	return line(strings.ToValidUTF8(hash, ""), shortHash)
}
