package loadtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"hash"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// EventKey is the key of every event of the load: an opened pull request.
const EventKey = "pr:opened"

// bodySize is how large the body of an event is, to a few digits of its
// number: what the platform sends for an opened pull request with two
// reviewers is about that.
const bodySize = 5 << 10

const project = "LOAD"

func repository(channel int) string { return "repo-" + strconv.Itoa(channel) }

// pullRequestOpened is the event, where $TITLE says which event of which channel it
// is: cards show titles, so the sink knows it again. It comes early, as in the
// platform's own bodies.
//
//go:embed event.json
var pullRequestOpened string

// Body is the events of one channel.
type Body struct{ head, middle, tail []byte }

// NewBody makes the events of a channel.
func NewBody(channel int) Body {
	const mark = "MARK"
	text := strings.NewReplacer(
		"$SLUG", repository(channel), "$ID", strconv.Itoa(channel+1), "$TITLE", "event "+mark+" of channel "+strconv.Itoa(channel),
	).Replace(pullRequestOpened)
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(text)); err != nil {
		panic(err) // it is JSON
	}
	padding := max(0, bodySize-compact.Len())
	text = strings.Replace(compact.String(), "$PADDING", strings.Repeat("what it does and why. ", padding/22), 1)
	head, rest, _ := strings.Cut(text, "$DATE")
	middle, tail, _ := strings.Cut(rest, mark)
	return Body{head: []byte(head), middle: []byte(middle), tail: []byte(tail)}
}

// Append appends the body of event number seq, which happens now: so the same
// number makes another body a second later.
func (b Body) Append(to []byte, seq int) []byte {
	to = append(to, b.head...)
	to = time.Now().AppendFormat(to, "2006-01-02T15:04:05-0700")
	to = append(to, b.middle...)
	to = strconv.AppendInt(to, int64(seq), 10)
	return append(to, b.tail...)
}

// signer signs bodies as the platform does: HMAC-SHA256 in X-Hub-Signature.
type signer struct {
	mac hash.Hash
	sum [sha256.Size]byte
}

func newSigner(secret string) *signer {
	return &signer{mac: hmac.New(sha256.New, []byte(secret))}
}

func (s *signer) appendHeader(to, body []byte) []byte {
	s.mac.Reset()
	s.mac.Write(body)
	return hex.AppendEncode(append(to, "sha256="...), s.mac.Sum(s.sum[:0]))
}

// Signature is the X-Hub-Signature of a body posted to a node's connection.
func Signature(body []byte) string {
	return string(newSigner(webhookSecret).appendHeader(nil, body))
}

var named = regexp.MustCompile(`event (\d+) of channel (\d+)`)

// eventsIn returns the numbers of a channel's events that a card names, each
// once, in the order of their first mention.
func eventsIn(card []byte, channel int) (found []int) {
	for _, m := range named.FindAllSubmatch(card, -1) {
		n, err := strconv.Atoi(string(m[1]))
		if err == nil && string(m[2]) == strconv.Itoa(channel) && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
	return found
}
