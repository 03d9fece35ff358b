// Package answer says in words what a chat platform answered.
package answer

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/work"
)

// maxWords is how many bytes of an answer are quoted in one sentence; the
// attempt keeps more.
const maxWords = 300

// answered is what Sentence and Withheld begin with.
const answered = "The chat platform answered "

// Brief is a reason for where there is little room: it begins with the status.
func Brief(reason string) string { return strings.TrimPrefix(reason, answered) }

// Sentence returns the platform's own words, where it said any, behind the status of
// its answer. body is the beginning of the answer's.
func Sentence(status int, body string) string {
	s := answered + statusText(status)
	words := strings.Join(strings.Fields(work.Printable(spoken(body))), " ")
	if words == "" {
		return s + "."
	}
	if len(words) > maxWords {
		words = strings.ToValidUTF8(words[:maxWords], "") + "…"
	}
	return s + ": " + words
}

// Withheld stands in place of Sentence for who may not read what was said.
func Withheld(status int) string {
	return answered + statusText(status) + "; what it said is shown to administrators only."
}

// Status returns the status that a reason names which Sentence or Withheld made; 0:
// it names none.
func Status(reason string) int {
	_, rest, _ := strings.Cut(reason, answered)
	digits := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	status, _ := strconv.Atoi(rest[:max(digits, 0)])
	return status
}

// spoken is what an answer says in words: the code and message of a
// workflow's error, else the answer as it is.
func spoken(body string) string {
	var e struct {
		Error struct{ Code, Message string }
	}
	if json.Unmarshal([]byte(body), &e) != nil || e.Error.Message == "" {
		return body
	}
	if e.Error.Code == "" {
		return e.Error.Message
	}
	return e.Error.Code + ": " + e.Error.Message
}

func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return strconv.Itoa(status) + " " + text
	}
	return strconv.Itoa(status)
}
