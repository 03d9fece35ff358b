package relay

import (
	"context"
	"fmt"
	"time"

	"outrigger/internal/db"
)

// allowance is one of the limits, counted in spans.
type allowance struct {
	span, window time.Duration
	limit        int
}

// The minute slides by seconds, and is longer by the time for which a share is
// good; the day slides by steps of ten minutes.
func (l *Limits) messages() allowance {
	return allowance{time.Second, time.Minute + shareTime, l.Rate}
}

func (l *Limits) recipients() allowance {
	return allowance{10 * time.Minute, 24 * time.Hour, l.Quota}
}

// allow takes as much as the limits have left for the first of some messages, with
// the recipients of each, beyond what this node has. Where that does not cover
// the first of them, it says when to ask again, and why.
func (q *Queue) allow(ctx context.Context, l *Limits, have share, needs []int) (more share, err error) {
	err = q.db.Write(ctx, func(tx *db.Tx) error {
		more = share{}
		// The row is what nodes meet at, so that no two take the same.
		if _, err := tx.Exec(ctx, `INSERT INTO relay_limits (sign_in, paused_until, paused_for) VALUES ($1, 0, '')
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
		covered := 0
		for _, need := range needs {
			takes := max(need-have.recipients, 0)
			if l.Rate > 0 && more.messages == freeMessages || l.Quota > 0 && more.recipients+takes > freeRecipients {
				break
			}
			have.recipients -= need - takes
			more.messages++
			more.recipients += takes
			covered++
		}
		if covered == 0 {
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

// left is how much is left of the limit, and when some of it is free again.
func (a allowance) left(ctx context.Context, tx *db.Tx, signIn string) (free int, again time.Duration, err error) {
	if a.limit == 0 {
		return 0, 0, nil
	}
	now := tx.Now()
	var spent, first int64
	err = tx.QueryRow(ctx, `SELECT COALESCE(SUM(amount), 0), COALESCE(MIN(at), 0) FROM relay_spent WHERE sign_in = $1 AND span = $2
		AND at + span > $3`,
		signIn, int64(a.span.Seconds()), now.Add(-a.window).Unix()).Scan(&spent, &first)
	return a.limit - int(spent), time.Unix(first, 0).Add(a.span + a.window).Sub(now), err
}

// take notes what was taken, and forgets what counts no longer.
func (a allowance) take(ctx context.Context, tx *db.Tx, signIn string, amount int) error {
	if a.limit == 0 || amount == 0 {
		return nil
	}
	span, now := int64(a.span.Seconds()), tx.Now().Unix()
	if _, err := tx.Exec(ctx, `INSERT INTO relay_spent (sign_in, span, at, amount) VALUES ($1, $2, $3, $4)
		ON CONFLICT (sign_in, span, at) DO UPDATE SET amount = relay_spent.amount + excluded.amount`, signIn, span, now-now%span, amount); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, `DELETE FROM relay_spent WHERE sign_in = $1 AND span = $2 AND at + span <= $3`, signIn, span,
		tx.Now().Add(-a.window).Unix())
	return err
}
