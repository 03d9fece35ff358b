package payload

import (
	"strings"

	"outrigger/internal/notify"
)

// Cut shortens what people or machines wrote to what an event keeps. What is
// left off does not stay in memory.
func Cut(s string) string {
	s, more := notify.Cut(s, notify.MaxText)
	if more {
		s = strings.Clone(s)
	}
	return s
}

// FirstLine returns the first line of a message, without the white space around
// the message.
func FirstLine(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "\r\n"); i >= 0 {
		s = strings.Clone(Cut(s[:i])) // the rest may be long
	}
	return Cut(s)
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
func EditedOnline(message string) bool {
	return strings.HasSuffix(FirstLine(message), "edited online with Bitbucket")
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
