// Package hook takes webhooks in. Receiver.receive is the way of a webhook from
// top to bottom: receive, verify, decode, then match, commit and hand over,
// which are the store's.
package hook

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/rest"
)

// maxWebhook is the largest body of a webhook: forty times what the cloud
// edition sends at most, and more than a push of 10,000 refs.
const maxWebhook = 10 << 20

// answerTime is how long a verified webhook waits for its commit. The
// self-hosted platform gives up after 10 to 20 s and counts that as a failure.
const answerTime = 10 * time.Second

// Options are what a receiver needs.
type Options struct {
	Store      *store.Store
	Clock      func() time.Time
	Log        *slog.Logger
	Metrics    *Metrics
	Refusals   *Refusals     // counts what is refused; nil: it is not counted
	AnswerTime time.Duration // how long a webhook waits for its commit; 0: 10 s
}

// Receiver takes webhooks: POST /hooks/{connection}[/{hook}].
type Receiver struct {
	Options
	unverified *unverified
	memory     *verified // of verified bodies
}

// New makes a receiver of the connections' webhooks.
func New(o Options) *Receiver {
	if o.AnswerTime == 0 {
		o.AnswerTime = answerTime
	}
	return &Receiver{Options: o, unverified: newUnverified(unverifiedMemory), memory: newVerified(verifiedMemory)}
}

// Register adds the receiver's routes.
func (rc *Receiver) Register(r *rest.Router) {
	describe[toConnection](r, "/hooks/{connection}", rest.Words{
		ID: "receiveWebhook", Summary: "Takes an event of the platform, by the connection's own hook.", Text: ownHook,
		RefusedFor: map[int]string{http.StatusNotFound: "There is no such connection."},
	}, rc.receive)
	describe(r, "/hooks/{connection}/{hook}", rest.Words{
		ID: "receiveWebhookOfScope", Summary: "Takes an event of the platform, by a hook with a scope and a secret of its own.", Text: scopedHook,
		RefusedFor: map[int]string{http.StatusNotFound: "There is no such hook."},
	}, rc.receive, rest.Example[toHook, rest.None]{Name: "test", Err: errNoWebhook("/hooks/main/nowhere")})
}

// receive is the way of a webhook: it is read and verified, decoded, matched and
// committed. Its messages are handed over with the commit.
func (rc *Receiver) receive(w http.ResponseWriter, r *http.Request) error {
	to := rc.find(r)
	if to.hook == nil {
		return rc.refused(r, to, notify.RefusedHook, errNoWebhook(r.URL.Path))
	}
	if isPing(r) {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	body, err := rc.verified(w, r, &to)
	if body == nil { // refused, or a test, which is answered
		return err
	}
	defer body.release()
	// A sender that hangs up may never send it again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), rc.AnswerTime)
	defer cancel()
	if err := rc.memory.take(ctx, body); err != nil {
		return err
	}
	receipt, err := rc.decode(r, to, body)
	if err != nil {
		return rc.refused(r, to, notify.RefusedBody, err)
	}
	if err := rc.accept(ctx, receipt, body); err != nil {
		if fault.Is(err, fault.Forbidden) {
			return rc.refused(r, to, notify.RefusedScope, err)
		}
		return err
	}
	if receipt.DuplicateOf != 0 {
		w.Header().Set(DuplicateHeader, strconv.FormatInt(receipt.DuplicateOf, 10))
	}
	if receipt.EventID != 0 {
		w.Header().Set(EventHeader, strconv.FormatInt(receipt.EventID, 10))
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// EventHeader is in the answer to a webhook that was stored: the id of its event,
// of the first where it holds several.
const EventHeader = "Outrigger-Event"

// DuplicateHeader is in the answer to a webhook that came in before: the id of
// the event that it was then. Nothing is sent for it again.
const DuplicateHeader = "Outrigger-Duplicate-Of"

// verified reads the body and verifies its signature. Without a body the
// webhook was refused, with the error, or answered as a test.
func (rc *Receiver) verified(w http.ResponseWriter, r *http.Request, to *target) (*body, error) {
	signature := readSignature(r.Header.Get(SignatureHeader))
	if !to.unsigned() && (!signature.well || len(to.secrets) == 0) {
		return nil, rc.refuse(w, r, *to, readTest(r))
	}
	body, err := rc.read(w, r)
	if err != nil {
		return nil, rc.refused(r, *to, notify.RefusedBody, err)
	}
	if isTest(r, body.bytes) || !rc.verify(r, to, signature, body) {
		defer body.release()
		return nil, rc.refuse(w, r, *to, body.bytes)
	}
	return body, nil
}

// decode makes the receipt of a verified body. An error is about a body that no
// platform sends; what is JSON and cannot be understood is kept, and the
// platform is told that it was taken. Of the body's memory the receipt has none
// but as its own Body.
func (rc *Receiver) decode(r *http.Request, to target, body *body) (*notify.Receipt, error) {
	c := to.connection
	key, events, err := c.Decode(r.Header.Get(EventKeyHeader), body.bytes, c.BaseURL)
	if fault.Is(err, fault.Invalid) {
		return nil, err
	}
	digest := sha256.Sum256(body.bytes)
	receipt := &notify.Receipt{
		Connection: c.Name, Hook: to.hook.Name, HookID: to.hook.ID, Key: shortKey(key), RequestID: requestID(r.Header),
		Address: rest.ClientAddr(r.Context()), AnswerID: rest.RequestID(r.Context()),
		ReceivedAt: rc.Clock(), Outcome: notify.Understood, Events: events, Digest: digest[:],
	}
	switch {
	case errors.Is(err, notify.ErrUnknownKey):
		receipt.Outcome, receipt.Reason = notify.UnknownKey, unknownKeyReason
	case err != nil:
		receipt.Outcome, receipt.Reason, receipt.Body = notify.Unreadable, err.Error(), body.bytes
		rc.Log.Warn("a webhook was not understood and is kept", "connection", c.Name, "key", receipt.Key, "error", err)
	case len(events) == 0:
		receipt.Outcome = notify.Silent
	}
	for i := range events {
		events[i].Connection = c.Name
	}
	return receipt, nil
}

// unknownKeyReason is kept with a webhook of another release of the platform, or
// of an app. Its body is not: the key says what it is, and nothing bounds how many
// such webhooks a platform sends.
const unknownKeyReason = "This event key is not known, so nothing is sent. The body is not kept."

// accept has the store match the events and commit them with their deliveries.
func (rc *Receiver) accept(ctx context.Context, receipt *notify.Receipt, body *body) error {
	// The events have texts of their own. A large body keeps its share of the
	// memory until they are committed, since they are about as long.
	if receipt.Body == nil && body.held == 0 {
		body.release()
	}
	err := rc.Store.Accept(ctx, receipt)
	if settled := receipt.Undecided; settled != nil {
		keep := *body
		body.disown()
		go func() {
			<-settled
			keep.release()
		}()
		return err
	}
	if err != nil {
		return err
	}
	rc.Metrics.accepted(receipt)
	return nil
}

// refuse answers a webhook that shows no right signature, unless it is a test.
// What was not read of its body is not read any more.
func (rc *Receiver) refuse(w http.ResponseWriter, r *http.Request, to target, read []byte) error {
	if isTest(r, read) {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	w.Header().Set("Connection", "close")
	if len(to.secrets) == 0 {
		return rc.refused(r, to, notify.RefusedNoSecret, fault.New(fault.Unauthenticated,
			"The webhook %s has no secret: configure one, here and on the platform.", r.URL.Path))
	}
	return rc.refused(r, to, notify.RefusedSignature, fault.New(fault.Unauthenticated, "The signature in %s is missing, malformed or "+
		"wrong: check the secret on the platform's webhook.", SignatureHeader))
}

// refused counts a webhook that is refused with err, which it gives back.
func (rc *Receiver) refused(r *http.Request, to target, why notify.RefusalReason, err error) error {
	rc.Metrics.refused(why)
	key := notify.RefusalKey{Connection: r.PathValue("connection"), Reason: why}
	if to.hook != nil {
		key.Hook = to.hook.Name
	} else if rc.Store.Platforms().Connections.Find(key.Connection) == nil {
		return err // of no connection of ours
	}
	if rc.Refusals != nil {
		rc.Refusals.count(key, rc.Clock(), rest.ClientAddr(r.Context()), err)
	}
	return err
}
