package format

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// number reads an id: a number, or a text of one; null leaves it out.
func (d *HierarchyDecoder) number(n *number) bool {
	*n = number{}
	c, _ := d.src.peek()
	var digits []byte
	ok := true
	switch {
	case c == '"':
		digits, ok = d.text()
		digits = bytes.TrimSpace(digits)
	case c == '{' || c == '[':
		n.wrong = "is not a whole number."
		return d.value()
	default:
		digits, ok = d.word()
		if string(digits) == "null" {
			return ok
		}
	}
	value, err := strconv.ParseInt(string(digits), 10, 64)
	switch {
	case !ok:
		return false
	case len(digits) > maxWord:
		n.wrong = "is too long."
	case errors.Is(err, strconv.ErrRange):
		n.wrong = "is beyond 64 bits."
	case err != nil:
		n.wrong = "is not a whole number."
	default:
		n.value, n.there = value, true
	}
	return true
}

// value passes over any value.
func (d *HierarchyDecoder) value() bool {
	for depth := 0; ; {
		c, ok := d.src.space()
		if !ok {
			return false
		}
		switch c {
		case '"':
			_, ok = d.text()
		case '{', '[':
			depth++
			d.src.next()
		case '}', ']':
			ok = depth > 0
			if ok {
				depth--
				d.src.next()
			}
		case ',', ':':
			ok = depth > 0
			if ok {
				d.src.next()
				continue
			}
		default:
			_, ok = d.word()
		}
		if !ok || depth == 0 {
			return ok
		}
	}
}

// maxWord is how much of a text, a number or a literal is kept, and one byte
// more, which tells that it was longer. Ids have at most 20 bytes.
const maxWord = 64

// word reads a number or a literal.
func (d *HierarchyDecoder) word() ([]byte, bool) {
	var w []byte
	for {
		c, ok := d.src.peek()
		letter := c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
		if !ok || !letter {
			return w, len(w) > 0
		}
		if len(w) <= maxWord {
			w = append(w, c)
		}
		d.src.next()
	}
}

// text reads a string and gives its beginning, as far as a name or an id
// reaches.
func (d *HierarchyDecoder) text() ([]byte, bool) {
	d.src.next()
	var t []byte
	for {
		c, ok := d.src.next()
		switch {
		case !ok, c < ' ':
			return nil, false
		case c == '"':
			return t, true
		case c == '\\':
			if t, ok = d.escape(t); !ok {
				return nil, false
			}
		case len(t) <= maxWord:
			t = append(t, c)
		}
	}
}

// escape reads what follows a backslash and appends it to t.
func (d *HierarchyDecoder) escape(t []byte) ([]byte, bool) {
	c, ok := d.src.next()
	if !ok {
		return nil, false
	}
	if c == 'u' {
		var hex [4]byte
		for i := range hex {
			if hex[i], ok = d.src.next(); !ok {
				return nil, false
			}
		}
		u, err := strconv.ParseUint(string(hex[:]), 16, 16)
		r := rune(u)
		if utf16.IsSurrogate(r) { // half of what is in no name and no id
			r = utf8.RuneError
		}
		if len(t) <= maxWord {
			t = utf8.AppendRune(t, r)
		}
		return t, err == nil
	}
	const from, to = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	i := strings.IndexByte(from, c)
	if i >= 0 && len(t) <= maxWord {
		t = append(t, to[i])
	}
	return t, i >= 0
}
