package relay

import (
	"context"
	"fmt"
	"time"
)

const (
	// shareTime is how long a share of the minute's messages may be used: the
	// minute is counted longer by as much.
	shareTime = 5 * time.Second

	// sharesPerMinute is how many shares there are of a minute's messages, so that
	// not every message is a write, and no node takes all of them; maxShare bounds
	// what of the quota is lost with a process.
	sharesPerMinute = 10
	maxShare        = 50

	// quietTime is how long after a wait the next one is not logged.
	quietTime = time.Minute
)

// share is what this node may send of what the limits allow the whole cluster.
type share struct {
	messages, recipients int
	end                  time.Time // of messages
	again                time.Time // before it there is no more to be had
	why                  string    // until then, in a sentence
	quiet                time.Time // before it another wait is not logged
}

// covers reports whether a message to so many recipients may go.
func (l *Limits) covers(s *share, now time.Time, recipients int) bool {
	return (l.Rate == 0 || s.messages > 0 && now.Before(s.end)) && (l.Quota == 0 || s.recipients >= recipients)
}

// shareSize is how many messages a node asks for at a time.
func (l *Limits) shareSize() int {
	if l.Rate == 0 {
		return maxShare
	}
	return min(max(l.Rate/sharesPerMinute, 1), maxShare)
}

func (l *Limits) counted() bool { return l.Rate > 0 || l.Quota > 0 }

// draw takes a share for the next messages when what this node has does not
// cover the first of them, and there is a connection for them: a share is good for
// a moment.
func (r *run) draw(ctx context.Context) error {
	l := &r.o.Limits
	if !l.counted() || r.blocked(time.Now()) > 0 {
		return nil
	}
	r.mu.Lock()
	now := time.Now()
	if l.Connections > 0 && r.slots == 0 {
		r.mu.Unlock()
		return nil
	}
	if !now.Before(r.share.end) {
		r.share.messages = 0
	}
	needs := r.out.next(r.fits(), l.shareSize())
	have := r.share
	r.mu.Unlock()
	if len(needs) == 0 || l.covers(&have, now, needs[0]) {
		return nil
	}
	more, err := r.queue.allow(ctx, l, have, needs)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.share.recipients += more.recipients
	if more.messages > 0 {
		r.share.messages, r.share.end = more.messages, now.Add(shareTime)
	}
	r.share.again, r.share.why = more.again, more.why
	if more.why == "" {
		return nil
	}
	if now.After(r.share.quiet) {
		r.o.Log.Info("mail waits for a limit", "reason", more.why, "until", more.again)
	}
	r.share.quiet, r.holdChanged = more.again.Add(quietTime), true
	r.out.wakeSender() // to save it
	return nil
}

// spend takes a message off the share. r.mu is held, as in giveBack.
func (r *run) spend(messages, recipients int) {
	r.share.messages -= messages
	r.share.recipients -= recipients
}

// giveBack returns what a message took that was not sent.
func (r *run) giveBack(j *job) {
	if r.o.Limits.counted() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.spend(-1, -len(j.turn))
	}
}

// affordable says which messages may go now, as far as the share goes.
func (r *run) affordable() func(*job) bool {
	fits := r.fits()
	if !r.o.Limits.counted() {
		return fits
	}
	now := time.Now()
	return func(j *job) bool {
		return r.o.Limits.covers(&r.share, now, min(len(j.turn), r.o.Recipients)) && fits(j)
	}
}

// next lists how many recipients each of the next messages has that fit.
func (d *dispatch) next(fits func(*job) bool, most int) (recipients []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, j := range d.ready {
		if len(recipients) == most {
			break
		}
		if fits(j) {
			recipients = append(recipients, min(len(j.turn), d.recipients))
		}
	}
	return recipients
}

func (l *Limits) rateReached() string {
	return fmt.Sprintf("mail.rate is reached: %d messages a minute.", l.Rate)
}

func (l *Limits) quotaReached() string {
	return fmt.Sprintf("mail.quota is reached: %d recipients in 24 hours.", l.Quota)
}
