package notify

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
)

// MaxWebhook is the largest body of a webhook: forty times what the cloud
// edition sends at most, and more than a push of 10,000 refs.
const MaxWebhook = 10 << 20

// Receiver takes webhooks: POST /hooks/{connection}.
type Receiver struct {
	store       *Store
	connections Connections
	clock       func() time.Time
	log         *slog.Logger
	metrics     *receiverMetrics
	memory      *semaphore.Weighted
}

// NewReceiver makes a receiver of the connections' webhooks.
func NewReceiver(s *Store, connections Connections, clock func() time.Time, log *slog.Logger, m *receiverMetrics) *Receiver {
	return &Receiver{
		store: s, connections: connections, clock: clock, log: log, metrics: m,
		memory: semaphore.NewWeighted(bodyMemory),
	}
}

// Register adds the receiver's route.
func (rc *Receiver) Register(r *rest.Router) {
	r.Handle(rest.Route{Method: "POST", Path: "/hooks/{connection}", MaxBody: MaxWebhook, Raw: true}, rc.receive)
}

func (rc *Receiver) receive(w http.ResponseWriter, r *http.Request) error {
	connection := rc.connections.Find(r.PathValue("connection"))
	if connection == nil {
		rc.metrics.refused("unknown_connection")
		return fault.New(fault.NotFound, "There is no connection %q.", r.PathValue("connection"))
	}
	held, err := rc.read(w, r)
	if err != nil {
		rc.metrics.refused("body")
		return err
	}
	defer held.release()
	body, key := held.bytes, r.Header.Get("X-Event-Key")
	if isPing(key, body) {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	digest, ok := connection.verified(r.Header.Get(SignatureHeader), body)
	if !ok {
		rc.metrics.refused("signature")
		return rc.unsigned(connection)
	}
	if err := CheckBody(body); err != nil {
		rc.metrics.refused("body")
		return err
	}
	receipt := rc.decode(connection, key, body)
	receipt.RequestID, receipt.Digest = requestID(r.Header), digest
	// Nothing of it is needed while the receipt waits for its commit. A large one
	// keeps its share of the memory for all: its events are about as long.
	if receipt.Body == nil && held.share == 0 {
		held.release()
	}
	if err := rc.store.Accept(r.Context(), receipt); err != nil {
		return err
	}
	rc.metrics.accepted(receipt)
	w.WriteHeader(http.StatusAccepted)
	return nil
}

func (rc *Receiver) unsigned(c *Connection) error {
	if len(c.Secrets) == 0 {
		return fault.New(fault.Unauthenticated, "Connection %s has no webhook secret: configure one, here and on the platform.", c.Name)
	}
	return fault.New(fault.Unauthenticated, "The signature in %s is missing, malformed or wrong: check the secret on the platform's webhook.", SignatureHeader)
}

// decode makes the receipt of a verified body. It has no error: what cannot
// be understood is kept, and the platform is told that it was taken. Of the
// body's memory the receipt has none but as its own Body.
func (rc *Receiver) decode(c *Connection, key string, body []byte) *Receipt {
	receipt := &Receipt{Connection: c.Name, Key: clean(key), ReceivedAt: rc.clock(), Outcome: Understood}
	events, err := c.Decode(key, body, c.BaseURL)
	switch {
	case errors.Is(err, ErrUnknownKey):
		receipt.Outcome, receipt.Reason = UnknownKey, "This event key is not known."
	case err != nil:
		receipt.Outcome, receipt.Reason, receipt.Body = Unreadable, clean(err.Error()), body
		rc.log.Warn("a webhook was not understood and is kept", "connection", c.Name, "key", receipt.Key, "cause", err)
	case len(events) == 0:
		receipt.Outcome = Silent
	}
	for i := range events {
		events[i].Connection = c.Name
		events[i].detach()
	}
	receipt.Events = events
	return receipt
}

// isPing tells whether a webhook is the platform's "Test connection", which
// it does not sign: the key diagnostics:ping, or no key and {"test": true}.
func isPing(key string, body []byte) bool {
	if key == "diagnostics:ping" {
		return true
	}
	return key == "" && len(body) < 64 && strings.Join(strings.Fields(string(body)), "") == `{"test":true}`
}

// requestID names a webhook once and for all: the self-hosted platform's
// X-Request-Id, the cloud's X-Request-UUID.
func requestID(h http.Header) string {
	id := h.Get("X-Request-Id")
	if id == "" {
		id = h.Get("X-Request-UUID")
	}
	if len(id) > maxRequestID {
		return ""
	}
	return clean(id)
}

// maxRequestID is longer than any UUID; what is over it names nothing.
const maxRequestID = 200

// clean makes text from outside fit for both databases.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
}
