package store

import (
	"context"
	"fmt"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/notify"
	"outrigger/internal/work"
)

// attemptColumns are those that attemptRow fills.
const attemptColumns = `delivery_id, number, at, took, status, answer, error, public, headers, request, format, batch`

func attemptRow(delivery int64, number int, a *work.Attempt, x notify.Exchange) []any {
	return []any{
		delivery, number, db.Micros(a.At), a.Took.Microseconds(), a.Status, a.Answer, clean(a.Err), db.Bit(a.Public),
		encodeHeaders(x.Headers), clean(x.Request), string(x.Format), x.Batch,
	}
}

// exchangeOf is what is kept of a result's exchange with one of its deliveries: what
// was sent, of a digest, with the first of them.
func exchangeOf(r *notify.Result, d *notify.Delivery) notify.Exchange {
	if r.Exchange == nil {
		return notify.Exchange{}
	}
	x := *r.Exchange
	if d.ID != r.Deliveries[0].ID {
		x.Request = ""
	}
	return x
}

// encodeHeaders writes a line for each header; their values have no line feeds.
func encodeHeaders(headers []notify.Header) string {
	var text strings.Builder
	for _, h := range headers {
		text.WriteString(h.Name + ": " + h.Value + "\n")
	}
	return clean(text.String())
}

func decodeHeaders(text string) (headers []notify.Header) {
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); ok {
			headers = append(headers, notify.Header{Name: name, Value: value})
		}
	}
	return headers
}

// keepAttempts inserts rows of attempts. One whose number is taken gets the next,
// unless it is that attempt: a message that moved to another channel while it was
// under way was tried on both as the same number.
func keepAttempts(ctx context.Context, tx *db.Tx, attempts [][]any) error {
	if len(attempts) == 0 {
		return nil
	}
	taken, err := tx.ExecEach(ctx, `INSERT INTO notify_attempts (`+attemptColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`, attempts)
	for _, i := range taken {
		a := append(attempts[i][:1:1], attempts[i][2:]...)
		if _, err = tx.Exec(ctx, `INSERT INTO notify_attempts (`+attemptColumns+`)
			SELECT CAST($1 AS BIGINT), max(number) + 1, CAST($2 AS BIGINT), CAST($3 AS BIGINT), CAST($4 AS BIGINT),
				CAST($5 AS TEXT), CAST($6 AS TEXT), CAST($7 AS BIGINT), CAST($8 AS TEXT), CAST($9 AS TEXT), CAST($10 AS TEXT), CAST($11 AS BIGINT)
			FROM notify_attempts WHERE delivery_id = $1 HAVING count(CASE WHEN at = $2 THEN 1 END) = 0`, a...); err != nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("keeping attempts: %w", err)
	}
	return dropRequests(ctx, tx, attempts)
}

// dropRequests leaves what was sent with the first attempt of a delivery that has it,
// and with its last.
func dropRequests(ctx context.Context, tx *db.Tx, attempts [][]any) error {
	var of [][]any
	for _, a := range attempts {
		if number, request := a[1].(int), a[9].(string); number > 2 && request != "" {
			of = append(of, []any{a[0]})
		}
	}
	if len(of) == 0 {
		return nil
	}
	const kept = `(SELECT %s(number) FROM notify_attempts WHERE delivery_id = $1 AND request <> '')`
	return tx.Each(ctx, "dropping what was sent with attempts",
		fmt.Sprintf(`UPDATE notify_attempts SET request = '' WHERE delivery_id = $1 AND request <> ''
		AND number > `+kept+` AND number < `+kept, "min", "max"), of, nil)
}

// readAttempts reads the attempts that did not deliver, and those that delivered
// before the delivery was put back. What a digest sent stands with its first delivery.
func readAttempts(ctx context.Context, tx *db.Tx, delivery int64) ([]notify.Attempt, error) {
	return db.List(ctx, tx, "reading attempts", func(row db.Row) (a notify.Attempt, err error) {
		var took int64
		var headers string
		err = row.Scan(db.At(&a.At), &took, &a.Status, &a.Answer, &a.Err, &a.Public, &headers, &a.Request, &a.Format, &a.Batch)
		a.Took, a.Headers = micros(took), decodeHeaders(headers)
		return a, err
	}, `SELECT a.at, a.took, a.status, a.answer, a.error, a.public, a.headers,
			CASE WHEN a.batch = 0 OR a.batch = a.delivery_id THEN a.request
				ELSE COALESCE((SELECT max(f.request) FROM notify_attempts f
					WHERE f.delivery_id = a.batch AND f.batch = a.batch AND f.at = a.at), '') END,
			a.format, a.batch
		FROM notify_attempts a WHERE a.delivery_id = $1 ORDER BY a.number`, delivery)
}
