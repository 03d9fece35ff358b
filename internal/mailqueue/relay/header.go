package relay

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"outrigger/internal/phrase"
)

const (
	// maxReceived is how many Received: lines a message may have before it is
	// going in circles. RFC 5321, 6.3, asks for at least 100 hops to be
	// allowed by default; behind a host application there are
	// few.
	maxReceived = 50

	// maxSubject is how many bytes of a subject, or of a message id, lists
	// show.
	maxSubject = 500

	// maxField is how much of a line of the header is looked at. A line may be as
	// long as the message.
	maxField = 8 << 10
)

// inspector reads along as a message passes: what of its header lists show,
// and what its way on depends on. Its lines have been checked.
type inspector struct {
	received  int    // Received: lines
	eightBit  bool   // there is a byte above 127
	utf8      bool   // there is one in the header
	subject   string // as it stands, unfolded
	messageID string

	line []byte  // the header line that is open
	into *string // the field that goes on
	body bool    // the header is over
}

// Write never fails.
func (h *inspector) Write(p []byte) (int, error) {
	n := len(p)
	for !h.body && len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			h.begin(p)
			return n, nil
		}
		if len(h.line) > 0 {
			h.begin(p[:i])
			h.field(h.line)
			h.line = h.line[:0]
		} else {
			h.field(p[:i])
		}
		p = p[i+1:]
	}
	h.eightBit = h.eightBit || hasEightBit(p)
	return n, nil
}

// begin keeps the beginning of a line of the header.
func (h *inspector) begin(p []byte) {
	if hasEightBit(p) {
		h.eightBit, h.utf8 = true, true
	}
	h.line = append(h.line, p[:min(len(p), maxField-len(h.line))]...)
}

// close looks at a last line without a CRLF.
func (h *inspector) close() {
	if len(h.line) > 0 {
		h.field(h.line)
		h.line = nil
	}
	h.subject, h.messageID = words(h.subject), clip(h.messageID)
}

// field looks at one line of the header.
func (h *inspector) field(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		h.body = true
		return
	}
	if hasEightBit(line) {
		h.eightBit, h.utf8 = true, true
	}
	line = line[:min(len(line), maxField)]
	if line[0] == ' ' || line[0] == '\t' {
		if h.into != nil && len(*h.into) < 2*maxSubject {
			*h.into += " " + strings.TrimSpace(string(line))
		}
		return
	}
	h.into = nil
	name, value, found := bytes.Cut(line, []byte(":"))
	if !found {
		return // nothing that is no field is judged here
	}
	name = bytes.TrimRight(name, " \t")
	switch {
	case bytes.EqualFold(name, []byte("Received")):
		h.received++
	case bytes.EqualFold(name, []byte("Subject")) && h.subject == "":
		h.into = &h.subject
	case bytes.EqualFold(name, []byte("Message-ID")) && h.messageID == "":
		h.into = &h.messageID
	}
	if h.into != nil {
		*h.into = strings.TrimSpace(string(value))
	}
}

// words decodes a subject for people: encoded words (RFC 2047) in the charsets
// that the standard library knows, everything else as it is.
func words(s string) string {
	var d mime.WordDecoder
	if decoded, err := d.DecodeHeader(s); err == nil {
		s = decoded
	}
	return clip(s)
}

// clip makes a text fit for the database and for one line.
func clip(s string) string {
	s = phrase.Line(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) <= maxSubject {
		return s
	}
	cut := maxSubject
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

func hasEightBit(p []byte) bool {
	for _, b := range p {
		if b >= 0x80 {
			return true
		}
	}
	return false
}
