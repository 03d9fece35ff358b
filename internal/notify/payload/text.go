package payload

import (
	"bytes"
	"hash/maphash"
	"strings"
	"unicode/utf8"

	"outrigger/internal/notify"
)

// Text reads a string, or a number as it is written. U+0000, which databases
// and chat platforms refuse, becomes U+FFFD, as does half a surrogate pair.
func (r *Reader) Text() string { return r.known.text(r.Raw()) }

// TextOf is Text of a body.
func TextOf(body []byte) string {
	r := New(body)
	defer r.Release()
	return r.Text()
}

// texts are short ones that were read before: bodies name the same users,
// branches and repositories again and again.
type texts [1024]string

// maxKnown is how many bytes most names and links have at most.
const maxKnown = 128

var seed = maphash.MakeSeed()

func (t *texts) text(b []byte) string {
	if len(b) > maxKnown {
		return string(b)
	}
	s := &t[maphash.Bytes(seed, b)%uint64(len(t))]
	if *s != string(b) {
		*s = string(b)
	}
	return *s
}

// Raw is Text in the memory of the body, where it can be: for texts that are
// looked at and not kept, or not whole.
func (r *Reader) Raw() []byte {
	switch r.Kind() {
	case '"':
		return unquoted(r.value())
	case '0':
		return r.value()
	}
	r.Skip()
	return nil
}

// Is reports whether a text is s.
func (r *Reader) Is(s string) bool { return string(r.Raw()) == s }

// Short reads as much of a text as an event keeps.
func (r *Reader) Short() string { return Beginning(r.Raw()) }

// FirstLine reads the first line of a message, without the white space around
// the message.
func (r *Reader) FirstLine() string {
	message := bytes.TrimSpace(r.Raw())
	if i := bytes.IndexAny(message, "\r\n"); i >= 0 {
		message = message[:i]
	}
	return Beginning(message)
}

// Beginning is as much of a text as an event keeps.
func Beginning(text []byte) string {
	if len(text) <= notify.MaxText { // no more characters than bytes
		return string(text)
	}
	end := 0
	for n := 0; n < notify.MaxText && end < len(text); n++ {
		_, size := utf8.DecodeRune(text[end:])
		end += size
	}
	return string(text[:end])
}

// Cut shortens what people or machines wrote to what an event keeps. What is
// left off does not stay in memory.
func Cut(s string) string {
	s, more := notify.Cut(s, notify.MaxText)
	if more {
		s = strings.Clone(s)
	}
	return s
}

// Hash returns a commit's, empty for the zeros that stand for none.
func Hash(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return Cut(s)
}

// EditedOnline reports whether a commit was made in the platform's editor, by the
// first line of its message, which both editions end in the same words.
func EditedOnline(line string) bool {
	return strings.HasSuffix(line, "edited online with Bitbucket")
}

// Changed adds a field whose value differs.
func Changed(to []notify.Change, field, before, after string) []notify.Change {
	if before == after {
		return to
	}
	return append(to, notify.Change{Field: field, Old: Cut(before), New: Cut(after)})
}

// maxURL is how long a link may be, in bytes: what every browser and chat
// client takes.
const maxURL = 2000

// Short returns a link, "" for one that is too long.
func Short(link string) string {
	if len(link) > maxURL {
		return ""
	}
	return link
}

// Page returns the address of a page as a body has it, "" for what is none.
func Page(href string) string {
	if !strings.HasPrefix(href, "https://") && !strings.HasPrefix(href, "http://") {
		return ""
	}
	return Short(href)
}
