package playground

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"outrigger/internal/playground/respond"
)

// FaultMode is how the chat platform answers.
type FaultMode string

const (
	Friendly FaultMode = "friendly" // 202, as a workflow answers
	Busy     FaultMode = "busy"     // 429 with Retry-After: 5
	Down     FaultMode = "down"     // 503
	Off      FaultMode = "off"      // 400 WorkflowTriggerIsNotEnabled: the workflow was switched off
	Gone     FaultMode = "gone"     // 404 WorkflowNotFound
)

// faultModes lists them for the page.
func faultModes() []FaultMode { return []FaultMode{Friendly, Busy, Down, Off, Gone} }

// answers are what a workflow answers in each mode. Source: the chat
// platform's documented statuses and error codes.
var answers = map[FaultMode]struct {
	status int
	body   string
}{
	Friendly: {http.StatusAccepted, ""},
	Busy:     {http.StatusTooManyRequests, `{"error":{"code":"TooManyRequests","message":"Rate limit is exceeded. Try again in 5 seconds."}}`},
	Down:     {http.StatusServiceUnavailable, `{"error":{"code":"ServiceUnavailable","message":"The service is temporarily unavailable."}}`},
	Off: {http.StatusBadRequest, `{"error":{"code":"WorkflowTriggerIsNotEnabled",` +
		`"message":"Could not execute workflow because it is in state 'Disabled'."}}`},
	Gone: {http.StatusNotFound, `{"error":{"code":"WorkflowNotFound","message":"The workflow could not be found."}}`},
}

// maxMessages is how many messages a channel keeps; older ones go.
const maxMessages = 100

// maxMessage is the largest POST that a workflow takes here.
const maxMessage = 1 << 20

// Message is what a channel received.
type Message struct {
	Number int64
	At     time.Time
	Body   []byte
	Card   Card
}

// Chat is a chat platform: channels with webhook URLs like those of its
// workflow feature.
type Chat struct {
	clock    func() time.Time
	watchers respond.Watchers

	mu       sync.Mutex
	count    int64
	mode     FaultMode
	refused  int
	channels map[string][]Message
}

// NewChat makes a chat platform that answers as it should.
func NewChat(clock func() time.Time) *Chat {
	return &Chat{clock: clock, mode: Friendly, channels: make(map[string][]Message)}
}

// WebhookPath is the path and query of a channel's webhook URL.
func WebhookPath(channel string) string {
	return "/workflows/" + channel + "/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=playground-" +
		channel
}

// Webhook takes the messages of a channel, whose name is the path value
// "channel".
func (c *Chat) Webhook(w http.ResponseWriter, r *http.Request) {
	channel := r.PathValue("channel")
	if r.URL.Query().Get("sig") != "playground-"+channel {
		answer(w, http.StatusUnauthorized, `{"error":{"code":"DirectApiAuthorizationRequired",`+
			`"message":"The request must be authenticated only by Shared Access scheme."}}`)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
	if err != nil {
		answer(w, http.StatusRequestEntityTooLarge, "")
		return
	}
	if !json.Valid(body) {
		answer(w, http.StatusBadRequest, `{"error":{"code":"InvalidRequestContent","message":"The request content is not valid JSON."}}`)
		return
	}
	mode := c.receive(channel, body)
	if mode == Busy {
		w.Header().Set("Retry-After", "5")
	}
	answer(w, answers[mode].status, answers[mode].body)
}

func answer(w http.ResponseWriter, status int, body string) {
	if body != "" {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // the sender has gone
}

func (c *Chat) receive(channel string, body []byte) FaultMode {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.watchers.Changed()
	if c.mode != Friendly {
		c.refused++
		return c.mode
	}
	c.count++
	list := append(c.channels[channel], Message{Number: c.count, At: c.clock(), Body: body, Card: readCard(body)})
	if len(list) > maxMessages {
		list = list[len(list)-maxMessages:]
	}
	c.channels[channel] = list
	return Friendly
}

// SetFaultMode changes how the platform answers from now on.
func (c *Chat) SetFaultMode(m FaultMode) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := answers[m]; ok {
		c.mode = m
		c.watchers.Changed()
	}
}

// Messages returns what a channel received, oldest first.
func (c *Chat) Messages(channel string) []Message {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.channels[channel])
}
