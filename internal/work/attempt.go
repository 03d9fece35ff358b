package work

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"outrigger/internal/phrase"
)

// Attempt is one try at a piece of work that is sent to another system, as it is
// stored and shown.
type Attempt struct {
	At     time.Time     `json:"at"`
	Status int           `json:"status,omitempty"` // of the answer; 0 when none came
	Answer string        `json:"answer,omitempty"` // its beginning, see ReadAnswer
	Took   time.Duration `json:"took"`             // nanoseconds
	Err    string        `json:"error,omitempty"`  // why no answer came

	// Public: every user who sees the attempt may read Answer, which came from a public
	// address, and Err. Else they are for administrators: Withheld where the answer
	// was left out, ErrForAll, which is not stored, in place of Err.
	Public, Withheld bool   `json:"-"`
	ErrForAll        string `json:"-"`
}

// MaxAnswer is how many bytes of an answer are kept: chat platforms say what
// is wrong in one line, and a proxy's page says it in its first lines.
const MaxAnswer = 2 << 10

// ReadAnswer reads the first MaxAnswer bytes of an answer's body as text that
// both databases and every terminal take: valid UTF-8, Printable. What was read
// before an error counts.
func ReadAnswer(body io.Reader) string {
	return ReadMasked(body, 0, func(text string) string { return text })
}

// ReadMasked is ReadAnswer for an answer that may repeat secrets, each of up to
// longest bytes, which mask replaces. It reads beyond MaxAnswer, so that mask
// sees whole each secret that begins before the cut.
func ReadMasked(body io.Reader, longest int, mask func(text string) string) string {
	raw := answers.Get().(*bytes.Buffer)
	defer answers.Put(raw)
	raw.Reset()
	n, _ := raw.ReadFrom(io.LimitReader(body, int64(MaxAnswer+longest)))
	text := raw.String()
	if n < int64(MaxAnswer+longest) {
		return cut(mask(Printable(text)))
	}
	text = mask(Printable(dropCutRune(text)))
	// A secret that the end of the reading cut is not recognized. Where others
	// before it became shorter, the cut to MaxAnswer alone would keep it.
	return cut(text[:max(0, len(text)-longest)])
}

// cut returns the first MaxAnswer bytes of a text, without a character that they
// hold a part of.
func cut(text string) string {
	return dropCutRune(text[:min(len(text), MaxAnswer)])
}

// Printable is what others said as text that can be stored, logged and shown: a
// terminal would obey the control characters in it, and what turns the direction of
// text would turn the text around it too. Each of these but tab and line feed becomes
// U+FFFD, as does what is not UTF-8; carriage returns are left out.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return -1
		case r == '\t', r == '\n':
			return r
		case phrase.Unseen(r):
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

var answers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// dropCutRune leaves out a last character that was cut in its middle.
func dropCutRune(text string) string {
	for i := 1; i < utf8.UTFMax && i <= len(text); i++ {
		if tail := text[len(text)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRuneInString(tail) {
				return text[:len(text)-i]
			}
			break
		}
	}
	return text
}
