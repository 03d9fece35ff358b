package hook

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"

	"outrigger/internal/fault"
)

// MaxDepth is how deep a webhook body may be nested. Real ones stay under 15.
const MaxDepth = 100

// CheckBody tells whether body is what decoders may be given: one JSON value
// (RFC 8259) in UTF-8, nested at most MaxDepth deep. Members that occur twice
// are allowed. An error is fault.Invalid and says what is wrong, and where.
// eventKey is the text of the member of that name as it stands in an object,
// quotes included; nil where there is none or it is no text.
func CheckBody(body []byte) (eventKey []byte, err error) {
	if !utf8.Valid(body) {
		return nil, invalidBody("it is not UTF-8", body, firstInvalid(body))
	}
	c := checker{b: body}
	if reason := c.document(); reason != "" {
		return nil, invalidBody(reason, body, c.i)
	}
	return c.eventKey, nil
}

func firstInvalid(b []byte) int {
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	return i
}

// checker walks once over a JSON text. The reasons its methods return are
// parts of a sentence; an empty one means that all is well.
type checker struct {
	b []byte
	i int

	eventKey []byte // what CheckBody gives
	keyNext  bool   // the next value is that of the member eventKey
}

const (
	reasonCutOff  = "it is cut off"
	reasonDeep    = "it is nested over 100 deep"
	reasonValue   = "there is no value"
	reasonName    = "there is no member name"
	reasonColon   = "there is no colon"
	reasonComma   = "there is no comma"
	reasonControl = "there is a control character in a string"
	reasonEscape  = "there is an unknown escape in a string"
	reasonNumber  = "there is a malformed number"
	reasonMore    = "something follows it"
)

// invalidBody says why body is refused. What ends at its last byte was cut
// off, whatever was expected next.
func invalidBody(reason string, body []byte, at int) error {
	if at >= len(body) {
		reason = reasonCutOff
	}
	return fault.New(fault.Invalid, "The body must be one JSON value in UTF-8: %s at byte %d of %d.", reason, at, len(body))
}

func (c *checker) document() string {
	var inObject [MaxDepth + 1]bool // by depth: an object, else an array
	depth := 0
	for {
		// A value is due.
		opened := false
		switch c.space() {
		case '{', '[':
			depth++
			if depth > MaxDepth {
				return reasonDeep
			}
			inObject[depth] = c.b[c.i] == '{'
			c.i++
			opened = true
		case '"':
			start := c.i
			if reason := c.text(); reason != "" {
				return reason
			}
			if c.keyNext {
				c.eventKey = c.b[start:c.i]
			}
		default:
			if reason := c.bare(); reason != "" {
				return reason
			}
		}
		c.keyNext = false
		// Then come the ends of what is complete, and a comma if there is more.
		for {
			next := c.space()
			if depth == 0 {
				if c.i < len(c.b) {
					return reasonMore
				}
				return ""
			}
			if next == closing(inObject[depth]) {
				c.i++
				depth--
				opened = false
				continue
			}
			if !opened {
				if next != ',' {
					return reasonComma
				}
				c.i++
			}
			if inObject[depth] {
				start := c.i
				if reason := c.name(); reason != "" {
					return reason
				}
				if depth == 1 && bytes.HasPrefix(bytes.TrimLeft(c.b[start:c.i], " \n\t\r"), []byte(`"eventKey"`)) {
					c.keyNext, c.eventKey = true, nil // of several the last counts, as it does for decoders
				}
			}
			break
		}
	}
}

func closing(object bool) byte {
	if object {
		return '}'
	}
	return ']'
}

// space skips white space and gives the byte after it, 0 at the end.
func (c *checker) space() byte {
	for c.i < len(c.b) {
		switch b := c.b[c.i]; b {
		case ' ', '\n', '\t', '\r':
			c.i++
		default:
			return b
		}
	}
	return 0
}

// name reads a member name and its colon.
func (c *checker) name() string {
	if c.space() != '"' {
		return reasonName
	}
	if reason := c.text(); reason != "" {
		return reason
	}
	if c.space() != ':' {
		return reasonColon
	}
	c.i++
	return ""
}

// text reads a string; c.i is at its opening quote.
func (c *checker) text() string {
	b := c.b
	for i := c.i + 1; i < len(b); i++ {
		for i+8 <= len(b) {
			if marks := special(binary.LittleEndian.Uint64(b[i:])); marks != 0 {
				i += bits.TrailingZeros64(marks) / 8
				break
			}
			i += 8
		}
		if i == len(b) {
			break
		}
		switch ch := b[i]; {
		case ch > '\\' || ch >= ' ' && ch != '"' && ch != '\\':
		case ch == '"':
			c.i = i + 1
			return ""
		case ch == '\\':
			n := escapeLength(b[i+1:])
			if n == 0 {
				c.i = i
				return reasonEscape
			}
			i += n
		default:
			c.i = i
			return reasonControl
		}
	}
	c.i = len(b)
	return reasonCutOff
}

// special marks the first of eight bytes that is a control character, a quote or
// a backslash, by its highest bit, and maybe others behind it; 0 is for none.
func special(x uint64) uint64 {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	quote, slash := x^'"'*ones, x^'\\'*ones // 0 where there is one
	return ((x-' '*ones)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & tops
}

// escapeLength is how many bytes of b, which follows a backslash, belong to
// the escape; 0 if they make none.
func escapeLength(b []byte) int {
	if len(b) == 0 {
		return 0
	}
	switch b[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 1
	case 'u':
		if len(b) >= 5 && isHex(b[1]) && isHex(b[2]) && isHex(b[3]) && isHex(b[4]) {
			return 5
		}
	}
	return 0
}

func isHex(b byte) bool {
	return isDigit(b) || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// bare reads a number, true, false or null.
func (c *checker) bare() string {
	if c.i == len(c.b) {
		return reasonCutOff
	}
	switch b := c.b[c.i]; {
	case b == '-' || isDigit(b):
		return c.number()
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	}
	return reasonValue
}

func (c *checker) word(w string) string {
	for k := range len(w) {
		if c.i == len(c.b) || c.b[c.i] != w[k] {
			return reasonValue
		}
		c.i++
	}
	return ""
}

func (c *checker) number() string {
	if c.b[c.i] == '-' {
		c.i++
	}
	if c.at() == '0' {
		c.i++
	} else if !c.digits() {
		return reasonNumber
	}
	if c.at() == '.' {
		c.i++
		if !c.digits() {
			return reasonNumber
		}
	}
	if b := c.at(); b == 'e' || b == 'E' {
		c.i++
		if b := c.at(); b == '+' || b == '-' {
			c.i++
		}
		if !c.digits() {
			return reasonNumber
		}
	}
	return ""
}

// at is the byte at hand, 0 at the end.
func (c *checker) at() byte {
	if c.i < len(c.b) {
		return c.b[c.i]
	}
	return 0
}

// digits reads at least one digit.
func (c *checker) digits() bool {
	start := c.i
	for isDigit(c.at()) {
		c.i++
	}
	return c.i > start
}
