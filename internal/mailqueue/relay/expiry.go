package relay

import (
	"cmp"
	"context"
	"time"
)

// expire gives up what has waited for as long as mail.give_up_after says, at
// that time: also while sending pauses, when no attempt would find out. Where an
// administrator paused sending, or there is no smarthost, mail waits.
func (r *run) expire(ctx context.Context) error {
	now := time.Now()
	if now.Before(r.expiry) || !r.mayExpire() {
		return nil
	}
	r.expiry = now.Add(r.o.GiveUpAfter) // of what comes from now on
	for after := int64(0); ; {
		list, err := r.queue.listOld(ctx, after, r.o.GiveUpAfter)
		if err == nil && len(list) > 0 {
			after = list[len(list)-1].id
			err = r.giveUp(ctx, list, now)
		}
		if err != nil {
			r.expiry = time.Time{}
			return err
		}
		if len(list) < slice {
			return nil
		}
	}
}

func (r *run) mayExpire() bool {
	return !r.out.isPaused() && r.o.Smarthost != nil && r.lease.Good(beginMargin)
}

// giveUp gives up those of a list whose time is over, and notes when that of the
// next is.
func (r *run) giveUp(ctx context.Context, list []oldMessage, now time.Time) error {
	var ids []int64
	for _, one := range list {
		switch {
		case one.left > 0:
			r.expires(now.Add(one.left))
		case r.out.withhold(one.id):
			ids = append(ids, one.id)
		default:
			r.expires(now.Add(lookEvery)) // it is being sent, and its answer decides
		}
	}
	if len(ids) == 0 {
		return nil
	}
	r.mu.Lock()
	why := cmp.Or(r.why, r.share.why, "It could not be sent in time.")
	r.mu.Unlock()
	bounces, err := r.bounces(ctx, ids, why)
	if err != nil {
		return err
	}
	failed, err := r.queue.expire(ctx, r.lease, ids, r.o.GiveUpAfter, why, bounces)
	if err != nil {
		for _, bounce := range bounces {
			r.queue.uncertain(bounce)
		}
	}
	if failed > 0 {
		r.o.Log.Warn("messages came into the mail error queue: they could not be sent in time", "messages", failed, "time", r.o.GiveUpAfter)
	}
	return err
}

// bounces are what the senders of messages that are given up now hear of it.
func (r *run) bounces(ctx context.Context, ids []int64, why string) (map[int64]*arrival, error) {
	if !r.o.Bounces {
		return nil, nil
	}
	bounces := make(map[int64]*arrival)
	for _, id := range ids {
		j, now, err := r.queue.readJob(ctx, id)
		if err != nil {
			return nil, err
		}
		if j != nil {
			failed := j.recipients.giveUp(j.queuedAt, now.Add(-r.o.GiveUpAfter), why)
			bounces[id] = r.notification(j, failed)
		}
	}
	return bounces, nil
}

func (r *run) expires(at time.Time) {
	if at.Before(r.expiry) {
		r.expiry = at
	}
}
