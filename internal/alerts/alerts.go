// Package alerts tells a chat channel what needs attention on the overview, and
// when it no longer does: once in a cluster, and not again after a restart.
//
// What flaps is not told of: a notice must have been there for a time, and be
// gone for the same time before its end is told. A message that cannot be sent is
// tried again for as long as there is something to tell; that the channel fails
// is shown on the overview and is no notice for the channel itself.
package alerts

import (
	"context"
	"embed"
	"log/slog"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of what was told.
var Migrations = db.Migrations{Name: "alerts", FS: migrations}

const (
	leaseName = "alerts"
	// longestPause is between two looks at the overview. A shorter After has
	// shorter ones.
	longestPause  = 30 * time.Second
	shortestPause = time.Second
	// sendTime is how long the lease must still be good before a message is sent:
	// what a request to a chat platform may take, and a second to note it.
	sendTime = 11 * time.Second
	// releaseTime is for one statement, at a stop too.
	releaseTime = 500 * time.Millisecond
	// maxNotices bounds the table, and maxText a row of it: the overview shows less.
	maxNotices = 200
	maxText    = 500 // characters
)

// tries are the pauses after a message that could not be sent.
var tries = work.Backoff{Steps: []time.Duration{30 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute, 15 * time.Minute}}

// Notice is one thing that needs attention.
type Notice struct {
	Key  string // what tells it from others, also when its text changes
	Text string
	Link string // below base_url
	Bad  bool   // something has failed
}

// Told is a notice as the channel is told of it.
type Told struct {
	Notice
	Since  time.Time
	GoneAt time.Time // zero: it is there

	key    []byte
	toldAt time.Time
}

// Message is what changed, the oldest first.
type Message struct {
	Present []Told // what needs attention
	Ended   []Told // what was told of and no longer does
}

// Failure is the last message's, where it could not be sent.
type Failure struct {
	At     time.Time
	Reason string

	count  int64 // in a row
	nextAt time.Time
}

// Options say what a Service needs.
type Options struct {
	DB     *db.DB
	Leases *db.Leases
	URL    secret.Value  // of the channel
	After  time.Duration // how long a notice must have been there, or be gone
	// Ask returns what needs attention now. With an error the list may lack some:
	// then nothing counts as gone.
	Ask func(ctx context.Context) ([]Notice, error)
	// Send sends a message. The text of its error is shown to administrators.
	Send  func(ctx context.Context, m Message) error
	Clock func() time.Time
	Log   *slog.Logger
}

// Service tells the channel.
type Service struct {
	o      Options
	url    []byte
	rounds work.PeriodicWorker
}

// New makes a service, which begins with Start.
func New(o Options) *Service {
	return &Service{o: o, url: secret.Fingerprint(o.URL.Reveal())}
}

// Start begins to look at the overview. Stop ends it.
func (s *Service) Start(ctx context.Context) {
	pause := min(max(s.o.After/10, shortestPause), longestPause)
	s.rounds.Start(ctx, pause, func(ctx context.Context) time.Duration {
		if err := s.runOnce(ctx); err != nil && ctx.Err() == nil {
			s.o.Log.WarnContext(ctx, "the alerts channel could not be told what needs attention; will try again", "error", err)
		}
		return pause
	})
}

// Stop cuts off a message that is on its way.
func (s *Service) Stop() { s.rounds.Stop() }

// runOnce looks at the overview and tells the channel what changed, unless another
// node is at it.
func (s *Service) runOnce(ctx context.Context) error {
	lease, err := s.o.Leases.Acquire(ctx, leaseName)
	if err != nil || lease == nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
		defer cancel()
		if err := s.o.Leases.Release(ctx, lease); err != nil {
			s.o.Log.WarnContext(ctx, "the lease of the alerts was not given back and will lapse", "error", err)
		}
	}()
	seen, partial := s.o.Ask(ctx)
	if partial != nil {
		s.o.Log.WarnContext(ctx, "the overview could not be read as a whole", "error", partial)
	}
	known, err := s.observe(ctx, lease, seen, partial == nil)
	if err != nil {
		return err
	}
	m := s.due(known)
	if len(m.Present)+len(m.Ended) == 0 {
		return nil
	}
	return s.tell(ctx, lease, m)
}

// due is what the channel is to be told now.
func (s *Service) due(known []Told) (m Message) {
	before := s.o.Clock().Add(-s.o.After)
	for _, t := range known {
		switch {
		case t.toldAt.IsZero() && !t.Since.After(before):
			m.Present = append(m.Present, t)
		case !t.toldAt.IsZero() && !t.GoneAt.IsZero() && !t.GoneAt.After(before):
			m.Ended = append(m.Ended, t)
		}
	}
	return m
}

func (s *Service) tell(ctx context.Context, lease *db.Lease, m Message) error {
	failure, err := s.Failure(ctx)
	if err != nil {
		return err
	}
	if failure != nil && s.o.Clock().Before(failure.nextAt) || !lease.Good(sendTime) {
		return nil
	}
	err = s.o.Send(ctx, m)
	if err == nil {
		// What has been sent is noted though the service is stopped meanwhile.
		return s.settle(context.WithoutCancel(ctx), lease, m)
	}
	if ctx.Err() != nil {
		return nil // cut off: sent again after the start
	}
	if failure == nil {
		failure = &Failure{}
		s.o.Log.WarnContext(ctx, "a message to the alerts channel could not be sent; will try again", "error", err)
	}
	now := s.o.Clock()
	return s.fail(ctx, lease, Failure{
		At: now, Reason: fault.As(err).Message, count: failure.count + 1,
		nextAt: now.Add(tries.Delay(int(failure.count), func() float64 { return 0 })),
	})
}
