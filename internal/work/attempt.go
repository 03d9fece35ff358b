package work

import (
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Attempt is one try at a piece of work that goes to somebody else, as it is
// stored and shown.
type Attempt struct {
	At     time.Time     `json:"at"`
	Status int           `json:"status,omitempty"` // of the answer; 0 when none came
	Answer string        `json:"answer,omitempty"` // its beginning, see ReadAnswer
	Took   time.Duration `json:"took"`             // nanoseconds
	Err    string        `json:"error,omitempty"`  // why no answer came
}

// MaxAnswer is how many bytes of an answer are kept: chat platforms say what
// is wrong in one line, and a proxy's page says it in its first lines.
const MaxAnswer = 2 << 10

// ReadAnswer reads the first MaxAnswer bytes of an answer's body as text that
// both databases take: valid UTF-8 without U+0000. What was read before an
// error counts.
func ReadAnswer(body io.Reader) string {
	raw := answers.Get().(*[MaxAnswer]byte)
	defer answers.Put(raw)
	n, _ := io.ReadFull(body, raw[:])
	text := string(raw[:n])
	if n == MaxAnswer {
		text = dropCutRune(text)
	}
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}

var answers = sync.Pool{New: func() any { return new([MaxAnswer]byte) }}

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
