package outbox

import (
	"strconv"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/work"
)

const (
	// setAsideAfter is how many server errors a message gets before the next
	// one is tried in its place, to tell a message that the platform cannot
	// take from a platform that is down.
	setAsideAfter = 2
	// maxTries is how many server errors of its own a message gets in all.
	maxTries = 10
	// rejectsToBreak is how many messages in a row are refused before it is
	// the channel that is wrong, not the messages.
	rejectsToBreak = 5
	// refusalsToBreak is how many times a channel has to say that it is gone:
	// platforms say so too while they are being deployed.
	refusalsToBreak = 3
	// quietUpdate spares the channel's row a write for every 2xx.
	quietUpdate = time.Minute
	// obeyed is how many times in a row a channel may ask for less rest than the
	// step's: some ask for a second as long as they are down.
	obeyed = 5
	// jitter keeps channels that failed together from coming back together.
	jitter = 0.1
)

var (
	// gateSteps is how long a channel rests after each failure in a row.
	gateSteps = work.Backoff{
		Steps:  []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour},
		Jitter: jitter,
	}
	// asideSteps is how long a message that was set aside waits before each try.
	asideSteps = work.Backoff{
		Steps:  []time.Duration{30 * time.Second, 2 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour},
		Jitter: jitter,
	}
	// refusedSteps is when a channel that says that it is gone is asked again:
	// twice before it counts as broken, then with one message now and then.
	refusedSteps = work.Backoff{
		Steps: []time.Duration{10 * time.Second, time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour},
	}
)

// settle says what an outcome means for the message and its channel: the one
// place where that is decided.
func settle(before *notify.Channel, m *message, o outcome, now time.Time, random func() float64) *notify.Result {
	s := settling{Result: notify.Result{State: notify.Waiting, Reason: o.reason, Inside: o.inside, Deliveries: m.list()}, after: *before,
		now: now, random: random}
	switch o.verdict {
	case done:
		s.taken(before)
	case wait:
		s.wait(m, o)
	case reject:
		s.State = notify.Failed
		s.after.Rejected++
		switch {
		case s.after.State == notify.Broken:
			s.refused(o)
		case s.after.Rejected >= rejectsToBreak:
			s.after.Refused = refusalsToBreak - 1
			s.refused(o.after("It refused " + strconv.Itoa(s.after.Rejected) + " messages in a row. The last time: "))
		}
	case broken:
		if m.aside {
			s.setAside(m)
		}
		s.outage(m)
		s.refused(o)
	case paused: // says nothing of this channel
	}
	r := s.Result
	if s.after != *before {
		changed := s.after // by itself, since most results change nothing of their channel
		r.Channel = &changed
	}
	return &r
}

// settling is a result in the making.
type settling struct {
	notify.Result
	after  notify.Channel
	now    time.Time
	random func() float64
}

// taken is a 2xx: whatever was wrong with the channel is over. A message that
// was set aside stays there, and is known to be alone in its trouble.
func (s *settling) taken(before *notify.Channel) {
	s.State, s.Reason, s.Inside = notify.Delivered, "", ""
	c := &s.after
	c.State, c.Reason, c.Inside, c.BrokenAt, c.Refused = notify.Open, "", "", time.Time{}, 0
	c.GateStep, c.GateUntil, c.GateReason, c.GateInside = 0, time.Time{}, "", ""
	c.Rejected, c.Suspect, c.FailingSince = 0, 0, time.Time{}
	if *c != *before || s.now.Sub(before.LastOKAt) >= quietUpdate {
		c.LastOKAt = s.now
	}
}

// wait is trouble that may pass: the channel's, unless server errors are about
// this message alone.
func (s *settling) wait(m *message, o outcome) {
	switch own := o.status >= 500; {
	case s.after.State == notify.Broken:
		s.keepAside(m)
		s.refused(o)
	case m.aside && own:
		s.alone(m, o)
	case own && s.after.Suspect == 0 && m.errors5xx()+1 >= setAsideAfter:
		s.Counts = true
		s.setAside(m)
		s.after.Suspect = m.id()
		s.failing()
		if o.retry > 0 {
			s.closeGate(o)
		}
	default:
		s.Counts = own && s.after.Suspect == 0
		s.keepAside(m)
		s.outage(m)
		s.closeGate(o)
	}
}

// alone is a server error that a message got beside the queue. It counts where
// the channel has taken others since; else it may be an outage.
func (s *settling) alone(m *message, o outcome) {
	healthy := s.after.GateStep == 0 && s.after.Refused == 0
	s.Counts = healthy
	if healthy && m.errors5xx()+1 >= maxTries {
		s.State = notify.Failed
		o = o.after("The chat platform answered this message with a server error " + strconv.Itoa(maxTries) +
			" times, and took others meanwhile. The last time: ")
		s.Reason, s.Inside = o.reason, o.inside
		return
	}
	s.setAside(m)
	if o.retry > 0 {
		s.DueAt = s.now.Add(max(o.retry, s.DueAt.Sub(s.now)))
		if !healthy {
			s.closeGate(o)
		}
	}
}

// setAside has the message tried beside the queue.
func (s *settling) setAside(m *message) {
	s.Aside = true
	s.DueAt = s.now.Add(asideSteps.Delay(m.deliveries[0].Beside, s.random))
}

// keepAside leaves a message beside the queue that was there.
func (s *settling) keepAside(m *message) {
	if m.aside {
		s.setAside(m)
	}
}

// outage says that the message in front of this one was set aside wrongly.
func (s *settling) outage(m *message) {
	if !m.aside && s.after.Suspect != 0 {
		s.Back, s.after.Suspect = s.after.Suspect, 0
	}
}

// closeGate rests the channel: for as long as the platform asked, else by the
// step, which counts up either way and after a while is the least.
func (s *settling) closeGate(o outcome) {
	delay := o.retry
	if delay == 0 || s.after.GateStep >= obeyed {
		delay = max(delay, gateSteps.Delay(s.after.GateStep, s.random))
	}
	s.after.GateStep++
	s.after.GateUntil, s.after.GateReason, s.after.GateInside = s.now.Add(delay), o.reason, o.inside
	s.failing()
}

// refused rests a channel that says that it is gone, and breaks it when it
// has said so often enough.
func (s *settling) refused(o outcome) {
	c := &s.after
	delay := max(o.retry, refusedSteps.Delay(c.Refused, s.random))
	c.Refused++
	c.GateUntil, c.GateReason, c.GateInside = s.now.Add(delay), o.reason, o.inside
	s.failing()
	if c.Refused < refusalsToBreak {
		return
	}
	c.Reason, c.Inside = o.reason, o.inside
	if c.State != notify.Broken {
		c.State, c.BrokenAt = notify.Broken, s.now
	}
}

func (s *settling) failing() {
	if s.after.FailingSince.IsZero() {
		s.after.FailingSince = s.now
	}
}
