package loadtest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
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

// Body is the events of one channel. The pull request's title says which
// event of which channel it is; cards show titles, so the sink knows it again.
type Body struct{ head, middle, tail []byte }

// NewBody makes the events of a channel.
func NewBody(channel int) Body {
	const mark = "\x00" // in no other part of the body
	text := strings.NewReplacer(
		"$REPOSITORY", repositoryJSON(channel),
		"$TITLE", "event "+mark+" of channel "+strconv.Itoa(channel),
		"$AUTHOR", userJSON("jdoe", "Jane Doe"),
		"$FIRST", userJSON("rroe", "Richard Roe"),
		"$SECOND", userJSON("msmith", "Mary Smith"),
	).Replace(pullRequestOpened)
	padding := max(0, bodySize-len(text))
	text = strings.Replace(text, "$PADDING", strings.Repeat("what it does and why. ", padding/22), 1)
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

// The title comes early, as in the platform's own bodies.
const pullRequestOpened = `{"eventKey":"pr:opened","date":"$DATE","actor":$AUTHOR,` +
	`"pullRequest":{"id":5,"version":0,"title":"$TITLE","description":"$PADDING","state":"OPEN","open":true,"closed":false,"draft":false,` +
	`"createdDate":1772443875860,"updatedDate":1772443875860,` +
	`"fromRef":{"id":"refs/heads/feature/load","displayId":"feature/load","latestCommit":"32a0b8a740c2963c6f56bd8baf3dc05683d299e0",` +
	`"type":"BRANCH","repository":$REPOSITORY},` +
	`"toRef":{"id":"refs/heads/main","displayId":"main","latestCommit":"cde6c45a4210afe81638aa1f3aa960d633c66a90",` +
	`"type":"BRANCH","repository":$REPOSITORY},` +
	`"locked":false,"author":{"user":$AUTHOR,"role":"AUTHOR","approved":false,"status":"UNAPPROVED"},` +
	`"reviewers":[{"user":$FIRST,"role":"REVIEWER","approved":false,"status":"UNAPPROVED"},` +
	`{"user":$SECOND,"role":"REVIEWER","approved":false,"status":"UNAPPROVED"}],` +
	`"participants":[],"links":{"self":[{"href":"https://code.example.com/projects/LOAD/repos/load/pull-requests/5"}]}}}`

func userJSON(name, display string) string {
	return fmt.Sprintf(`{"name":%q,"emailAddress":"%s@example.com","id":3231,"displayName":%q,"active":true,"slug":%q,"type":"NORMAL",`+
		`"links":{"self":[{"href":"https://code.example.com/users/%s"}]}}`, name, name, display, name, name)
}

func repositoryJSON(channel int) string {
	slug := repository(channel)
	return fmt.Sprintf(`{"slug":%q,"id":%d,"name":%q,"hierarchyId":"3fb0e4a4e4b1c9b0cf21","scmId":"git","state":"AVAILABLE",`+
		`"statusMessage":"Available","forkable":true,`+
		`"project":{"key":%q,"id":2,"name":"Load","public":false,"type":"NORMAL",`+
		`"links":{"self":[{"href":"https://code.example.com/projects/%s"}]}},`+
		`"public":false,"archived":false,"links":{"clone":[{"href":"ssh://git@code.example.com:7999/load/%s.git","name":"ssh"},`+
		`{"href":"https://code.example.com/scm/load/%s.git","name":"http"}],`+
		`"self":[{"href":"https://code.example.com/projects/%s/repos/%s/browse"}]}}`,
		slug, channel+1, slug, project, project, slug, slug, project, slug)
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

// eventsIn returns the numbers of a channel's events that a card names, each
// once, in the order of their first mention.
func eventsIn(card []byte, channel int) []int {
	var found []int
	end := []byte(" of channel " + strconv.Itoa(channel))
	for {
		_, rest, ok := bytes.Cut(card, []byte("event "))
		if !ok {
			return found
		}
		card = rest
		digits := 0
		for digits < len(card) && card[digits] >= '0' && card[digits] <= '9' {
			digits++
		}
		if digits == 0 || !bytes.HasPrefix(card[digits:], end) {
			continue
		}
		n, err := strconv.Atoi(string(card[:digits]))
		if err == nil && !slices.Contains(found, n) {
			found = append(found, n)
		}
	}
}
