package relay

import (
	"context"
	"time"
)

// Sending pauses after what fails before MAIL, and after refusals of one
// message after the other. Both close the gate; then one message at a time is
// sent, until the smarthost answers one.

// cannotConnect pauses sending: no session with the smarthost can be opened.
// Workers that fail together count once. Where it goes on talking to others, it
// only has enough of them, and there will be no more for a while.
func (r *run) cannotConnect(why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	if r.connections > 0 {
		r.fewerConnections(now, why)
		return
	}
	r.pauseSending(now, why)
}

// fewerConnections has there be no more than now, for a while. r.mu is held.
func (r *run) fewerConnections(now time.Time, why string) {
	if r.fullAgain.IsZero() {
		r.o.Log.Info("no more connections with the smarthost can be opened", "now", r.connections, "reason", why)
	}
	r.fullAgain = now.Add(fewerFor)
	r.out.setLimit(r.connections)
}

// refuses notes that the smarthost refused a message as it may refuse others.
// After three in a row the next one, of another sender, is a probe, and its
// refusal pauses sending. The first message after a pause for want of a
// connection has had its answer with the connection: what becomes of it is about
// its sender, until others are refused too.
func (r *run) refuses(j *job, one *pushback) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refused.add(j, one)
	r.lastRefusal = r.o.Smarthost.Complain("%s", one.why)
	switch {
	case j.probe:
		r.pauseSending(time.Now(), r.lastRefusal)
		r.awaitOthers()
	case r.refused.seeking():
		r.probing = true
		r.out.wakeSender()
	}
}

// awaitOthers has the next message of another sender be tried at once when it
// comes, while only one is known to be refused. r.mu is held, as in all that
// follows but flows and findProbe.
func (r *run) awaitOthers() {
	if r.refused.general() {
		r.out.await(nil)
	} else {
		r.out.await(r.refused.snapshot().allows)
	}
}

// pauseSending closes the gate.
func (r *run) pauseSending(now time.Time, why string) {
	if !r.gate.Open(now) {
		return
	}
	if r.gate.Step == 0 {
		r.o.Log.Warn("sending mail pauses; messages wait", "reason", why)
	}
	r.gate.Close(now, pauses.Delay(r.gate.Step, nil))
	r.probing, r.why, r.holdChanged = true, why, true
	r.out.wakeSender()
}

// resumeSending forgets every failure.
func (r *run) resumeSending() {
	r.gate.Success()
	r.probing, r.why, r.holdChanged, r.refused = false, "", true, refusals{}
	r.limit.over, r.limit.announce, r.limit.holds = r.limit.over || r.limit.holds, false, false
	r.out.await(nil)
}

// answered notes that the smarthost answers messages. What was begun before the
// provider said that a limit is reached says nothing of that limit.
func (r *run) answered(j *job, taken bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if taken {
		delete(r.limit.own, j.id)
	}
	if r.refused.limited != nil {
		if !j.probe {
			return
		}
		r.endLimit(taken)
	}
	switch {
	case r.gate.Step > 0:
		r.o.Log.Info("sending mail goes on")
	case r.refused.count == 0:
		return
	}
	r.resumeSending()
	r.out.wakeSender()
}

// fits tells which messages may go now.
func (r *run) fits() func(*job) bool {
	if r.probing && r.refused.seeking() {
		return r.refused.allows
	}
	return anything
}

func anything(*job) bool { return true }

// findProbe sees to it that there is a message of another sender to try, in
// memory or in the database, when one is sought. Where there is none, sending
// pauses; after a pause, everybody's turn comes again.
func (r *run) findProbe(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.probing || !r.refused.seeking() || r.out.isPaused() || r.o.Smarthost == nil {
		return nil
	}
	found, busy := r.out.offers(r.refused.allows)
	if found && !r.refused.general() {
		r.gate.Until = time.Time{} // it need not wait for the end of the pause
	}
	if found || busy || !r.gate.Open(time.Now()) {
		return nil
	}
	waits, err := r.loadProbe(ctx)
	switch {
	case err != nil:
		return err
	case waits && r.gate.Step == 0:
		r.pauseSending(time.Now(), r.lastRefusal)
		r.awaitOthers()
	case waits:
		r.refused.nextRound()
	}
	return nil
}

// loadProbe is Queue.loadProbe for what is sought, which is widened where there
// is none.
func (r *run) loadProbe(ctx context.Context) (waits bool, err error) {
	waits, err = r.queue.loadProbe(ctx, &r.refused)
	if err != nil || !waits || !r.refused.widen() {
		return waits, err
	}
	if found, _ := r.out.offers(r.refused.allows); found {
		return false, nil
	}
	return r.queue.loadProbe(ctx, &r.refused)
}
