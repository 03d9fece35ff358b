package relay

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/mailqueue/relay/smtpclient"
	"outrigger/internal/work"
)

const (
	// lookEvery is how often the sender looks for what other nodes'
	// administrators did, on PostgreSQL; and whether it may hold the lease.
	lookEvery = time.Second

	// retryRead is how long the sender waits when the database did not answer.
	retryRead = time.Second

	// beginMargin is how long the lease must last for a message to be begun,
	// and endMargin for it to be completed: what the last packet takes.
	beginMargin = 5 * time.Second
	endMargin   = 2 * time.Second

	// restTime is how long a conversation is kept with nothing to send: RFC
	// 5321 lets the smarthost hang up after 5 min.
	restTime = time.Minute

	// fewerFor is how long there are no more conversations than the smarthost
	// went on with when it refused another.
	fewerFor = 5 * time.Minute

	// defaultRecipients is what common servers accept of one message:
	// RFC 5321, 4.5.3.1.8, wants 100, and some take 50.
	defaultRecipients = 50

	// defaultGiveUp is the most that RFC 5321, 4.5.4.1, names: 4 to 5 days.
	defaultGiveUp = 5 * 24 * time.Hour

	// stopTime is how long Stop waits for answers to what was sent. A message
	// whose answer comes later is sent again.
	stopTime = 5 * time.Second
)

// pauses is how long sending pauses after failures in a row that are no
// message's fault.
var pauses = work.Backoff{Steps: []time.Duration{
	5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 5 * time.Minute,
}}

// SenderOptions say what a Sender needs.
type SenderOptions struct {
	Smarthost   *smtpclient.Smarthost // nil: mail waits
	Connections int                   // at a time
	Limits      Limits                // of the smarthost's provider
	Recipients  int                   // of one transaction; 0: 50
	GiveUpAfter time.Duration         // how long a message is tried; 0: 5 days
	Bounces     bool                  // the sender of a message that is given up is told
	// Members says whether this node takes part: cluster.Members.
	Members func(context.Context) (self, active int, err error)
	Log     *slog.Logger
}

// Sender sends this node's queue, while the node is ACTIVE and under the lease
// of its queue.
type Sender struct {
	o     SenderOptions
	queue *Queue

	stop    context.CancelFunc
	over    chan struct{}
	changed work.Signal
	held    atomic.Bool
}

// NewSender makes a Sender; nothing is sent before Start.
func NewSender(q *Queue, o SenderOptions) *Sender {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Recipients = cmp.Or(o.Recipients, defaultRecipients)
	o.GiveUpAfter = cmp.Or(o.GiveUpAfter, defaultGiveUp)
	return &Sender{o: o, queue: q, changed: work.NewSignal()}
}

// Start begins to send.
func (s *Sender) Start(ctx context.Context) error {
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	s.over = make(chan struct{})
	go s.loop(ctx)
	return nil
}

// Stop lets what is in flight be answered, for at most 5 s, and gives the lease
// back.
func (s *Sender) Stop() {
	if s.stop != nil {
		s.stop()
		<-s.over
	}
}

// Held is 1 while this node may be sending.
func (s *Sender) Held() int { return int(db.Bit(s.held.Load())) }

// Wake has the members looked at now: they have changed.
func (s *Sender) Wake() { s.changed.Set() }

// loop holds the lease while this node is ACTIVE.
func (s *Sender) loop(ctx context.Context) {
	defer close(s.over)
	for ctx.Err() == nil {
		if lease := s.acquire(ctx); lease != nil {
			s.held.Store(true)
			s.send(ctx, lease)
			work.Release(ctx, s.queue.o.Leases, lease, s.o.Log, "the lease of the mail queue")
			s.held.Store(false)
		}
		select {
		case <-ctx.Done():
		case <-s.changed:
		case <-time.After(lookEvery):
		}
	}
}

// acquire returns the lease, nil while it is not to be had.
func (s *Sender) acquire(ctx context.Context) *db.Lease {
	if !s.active(ctx) {
		return nil
	}
	lease, err := s.queue.o.Leases.Acquire(ctx, leaseName(s.queue.o.NodeID))
	if err != nil && ctx.Err() == nil {
		s.o.Log.Debug("the lease of the mail queue cannot be had now", "error", err)
	}
	return lease
}

// active reports whether this node takes part. While that cannot be found out,
// the lease decides.
func (s *Sender) active(ctx context.Context) bool {
	self, _, err := s.o.Members(ctx)
	return err != nil || self == 1
}

// send works until ctx ends, the lease is lost or the node is drained.
func (s *Sender) send(ctx context.Context, lease *db.Lease) {
	ctx, cancel := context.WithCancel(ctx)
	var watching sync.WaitGroup
	watching.Go(func() {
		s.watch(ctx, lease)
		cancel()
	})
	newRun(s, lease).run(ctx)
	cancel()
	watching.Wait()
}

// watch returns when this node may send no longer.
func (s *Sender) watch(ctx context.Context, lease *db.Lease) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for s.active(ctx) {
		select {
		case <-ctx.Done():
			return
		case <-lease.Lost():
			s.o.Log.Warn("the lease of the mail queue was lost; sending begins anew when it is back")
			return
		case <-s.changed:
		case <-tick.C:
		}
	}
}
