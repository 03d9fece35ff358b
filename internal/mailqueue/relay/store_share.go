package relay

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
)

// allowance is one of the limits, counted in spans of a sliding window.
type allowance struct {
	span, window time.Duration
	limit        int
}

// messages is the limit of a minute, which slides by seconds. Its window is longer by the
// time for which a share is good.
func (l *Limits) messages() allowance {
	return allowance{time.Second, time.Minute + shareTime, l.Rate}
}

// recipients is the limit of a day, which slides by steps of ten minutes.
func (l *Limits) recipients() allowance {
	return allowance{10 * time.Minute, 24 * time.Hour, l.Quota}
}

// allow takes a share of the limits for messages that wait: as many of the first ones as
// the limits have room for, beyond what this node has already. needs are the recipients of
// each. If there is no room for the first message, the share says when to ask again, and
// why.
func (q *Queue) allow(ctx context.Context, l *Limits, have share, needs []int) (more share, err error) {
	err = q.db.Write(ctx, func(tx *db.Tx) error {
		more = share{}
		// The row is what nodes meet at, so that no two take the same.
		if err := tx.Do(ctx, "meeting at the limits", `INSERT INTO relay_limits (sign_in, paused_until, paused_for) VALUES ($1, 0, '')
			ON CONFLICT (sign_in) DO UPDATE SET sign_in = excluded.sign_in`, l.SignIn); err != nil {
			return err
		}
		freeMessages, messagesAgain, err := l.messages().left(ctx, tx, l.SignIn)
		if err != nil {
			return err
		}
		freeRecipients, recipientsAgain, err := l.recipients().left(ctx, tx, l.SignIn)
		if err != nil {
			return err
		}
		left := have.recipients
		for _, need := range needs {
			takes := max(need-left, 0)
			if l.Rate > 0 && more.messages == freeMessages || l.Quota > 0 && more.recipients+takes > freeRecipients {
				break
			}
			left -= need - takes
			more.messages++
			more.recipients += takes
		}
		if more.messages == 0 {
			wait := messagesAgain
			more.why = l.rateReached()
			if l.Quota > 0 && needs[0]-have.recipients > freeRecipients {
				wait, more.why = recipientsAgain, l.quotaReached()
			}
			more.again = time.Now().Add(max(wait, lookEvery))
			return nil
		}
		if err := l.messages().take(ctx, tx, l.SignIn, more.messages); err != nil {
			return err
		}
		return l.recipients().take(ctx, tx, l.SignIn, more.recipients)
	})
	if err != nil {
		return share{}, fmt.Errorf("taking a share of the limits of %s: %w", l.SignIn, err)
	}
	return more, nil
}

// left returns how much is left of the limit, and in what time some of it is free again.
func (a allowance) left(ctx context.Context, tx *db.Tx, signIn string) (free int, again time.Duration, err error) {
	if a.limit == 0 {
		return 0, 0, nil
	}
	now := tx.Now()
	var spent, first int64
	err = tx.Get(ctx, "reading what was taken", []any{&spent, &first}, `SELECT COALESCE(SUM(amount), 0), COALESCE(MIN(at), 0) FROM relay_spent
		WHERE sign_in = $1 AND span = $2 AND at + span > $3`, signIn, int64(a.span.Seconds()), now.Add(-a.window).Unix())
	return a.limit - int(spent), time.Unix(first, 0).Add(a.span + a.window).Sub(now), err
}

// take notes how much was taken, and deletes what no longer counts.
func (a allowance) take(ctx context.Context, tx *db.Tx, signIn string, amount int) error {
	if a.limit == 0 || amount == 0 {
		return nil
	}
	span, now := int64(a.span.Seconds()), tx.Now().Unix()
	if err := tx.Do(ctx, "noting what was taken", `INSERT INTO relay_spent (sign_in, span, at, amount) VALUES ($1, $2, $3, $4)
		ON CONFLICT (sign_in, span, at) DO UPDATE SET amount = relay_spent.amount + excluded.amount`,
		signIn, span, now-now%span, amount); err != nil {
		return err
	}
	return tx.Do(ctx, "forgetting what was taken", `DELETE FROM relay_spent WHERE sign_in = $1 AND span = $2 AND at + span <= $3`,
		signIn, span, tx.Now().Add(-a.window).Unix())
}
