package relay

import (
	"context"
	"time"
)

// limitPause is what this run has to do with pauses for the provider's limits.
type limitPause struct {
	holds    bool           // sending pauses for a limit, here or on another node
	announce bool           // the other nodes are to hear of it
	over     bool           // they are to hear that it is over
	own      map[int64]bool // messages that were answered so while others were taken: such an answer is about them
}

// limited pauses sending, here and on all nodes that sign in alike, and reports
// whether the message is not at fault: the provider says that a limit is reached.
// The next message is of another sender, where there is one. If that is taken at
// once, the same answer to this message is about this message, unless it is a
// temporary one: a rate is reached again as soon as it is used again.
func (r *run) limited(j *job, answer *reached) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.limit.own[j.id] && answer.code >= 500 {
		return false
	}
	now := time.Now()
	if answer.connections && r.connections > 0 {
		r.fewerConnections(now, answer.said)
	}
	if r.refused.limited == nil && !r.gate.Open(now) {
		return true // sending pauses already, for another reason
	}
	r.refused.addLimited(j)
	r.lastRefusal = r.o.Smarthost.Complain("answered %s with %s", answer.what, answer.said)
	r.limit.announce = r.limit.announce || r.gate.Open(now)
	r.limit.holds = true
	r.pauseSending(now, r.lastRefusal)
	r.awaitOthers()
	return true
}

// endLimit notes what a message that was taken says of a limit. r.mu is held.
func (r *run) endLimit(taken bool) {
	if taken && r.gate.Step == 1 {
		for id := range r.refused.limited {
			r.limit.own = with(r.limit.own, id)
		}
	}
}

// heedLimit does as the nodes that sign in alike have found out.
func (r *run) heedLimit(ctx context.Context) error {
	if r.o.Limits.SignIn == "" {
		return nil
	}
	left, why, err := r.queue.readLimit(ctx, r.o.Limits.SignIn)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	switch {
	case r.limit.announce || r.limit.over: // they hear of us first
	case left > 0 && r.gate.Open(now):
		r.limit.holds = true
		if r.gate.Step == 0 {
			r.o.Log.Warn("sending mail pauses; messages wait", "reason", why)
		}
		r.gate.Close(now, left)
		r.probing, r.why, r.holdChanged = true, why, true
	case why == "" && r.limit.holds:
		r.o.Log.Info("sending mail goes on")
		r.resumeSending()
		r.limit.over = false // they know
	}
	return nil
}

// saveLimit has the nodes that sign in alike know.
func (r *run) saveLimit(ctx context.Context) error {
	r.mu.Lock()
	announce, over, why, left := r.limit.announce, r.limit.over, r.why, time.Until(r.gate.Until)
	r.limit.announce, r.limit.over = false, false
	r.mu.Unlock()
	if !announce && !over {
		return nil
	}
	if !announce {
		left, why = 0, ""
	}
	err := r.queue.writeLimit(ctx, r.o.Limits.SignIn, left, why)
	if err != nil {
		r.mu.Lock()
		r.limit.announce, r.limit.over = r.limit.announce || announce, r.limit.over || over
		r.mu.Unlock()
	}
	return err
}
