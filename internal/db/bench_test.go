package db_test

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

const benchSchema = `
CREATE TABLE bench_events (id INTEGER PRIMARY KEY AUTOINCREMENT, request TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, body BLOB NOT NULL) STRICT;
CREATE TABLE bench_deliveries (id INTEGER PRIMARY KEY AUTOINCREMENT, event INTEGER NOT NULL REFERENCES bench_events(id), channel INTEGER NOT NULL, state INTEGER NOT NULL) STRICT;
CREATE INDEX bench_waiting ON bench_deliveries (channel, id) WHERE state = 0;`

// event is what the hot path stores: four statements an event.
type event struct {
	request string
	channel int64
	body    []byte
	id      int64
}

func store(ctx context.Context, tx *db.Tx, e *event) error {
	err := tx.QueryRow(ctx, `INSERT INTO bench_events (request, at, body) VALUES ($1, $2, $3) RETURNING id`, e.request, db.Micros(tx.Now()), e.body).Scan(&e.id)
	if err != nil {
		return err
	}
	var d int64
	if err := tx.QueryRow(ctx, `INSERT INTO bench_deliveries (event, channel, state) VALUES ($1, $2, 0) RETURNING id`, e.id, e.channel).Scan(&d); err != nil {
		return err
	}
	if _, err := tx.Exec(ctx, `UPDATE bench_deliveries SET state = 1 WHERE id = $1`, d); err != nil {
		return err
	}
	_, err = tx.Exec(ctx, `UPDATE bench_events SET at = at + 1 WHERE id = $1`, e.id)
	return err
}

func benchmark(b *testing.B, clients int, do func(ctx context.Context, d *db.DB) func(*event) error) {
	b.Run("sqlite", func(b *testing.B) { measure(b, dbtest.SQLite(b), clients, do) })
	b.Run("postgres", func(b *testing.B) { measure(b, dbtest.Postgres(b), clients, do) })
}

func measure(b *testing.B, d *db.DB, clients int, do func(ctx context.Context, d *db.DB) func(*event) error) {
	ctx := context.Background()
	if err := d.Migrate(ctx, set("bench", benchSchema)); err != nil {
		b.Fatal(err)
	}
	write := do(ctx, d)
	body := bytes.Repeat([]byte("x"), 2048)
	var wg sync.WaitGroup
	var mu sync.Mutex
	next := 0
	b.ResetTimer()
	for c := range clients {
		wg.Go(func() {
			for {
				mu.Lock()
				n := next
				next++
				mu.Unlock()
				if n >= b.N {
					return
				}
				if err := write(&event{request: "request-" + strconv.Itoa(n), channel: int64(c), body: body}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

func BenchmarkWrite(b *testing.B) {
	benchmark(b, 256, func(ctx context.Context, d *db.DB) func(*event) error {
		return func(e *event) error {
			return d.Write(ctx, func(tx *db.Tx) error { return store(ctx, tx, e) })
		}
	})
}

func BenchmarkBatch(b *testing.B) {
	benchmark(b, 256, func(ctx context.Context, d *db.DB) func(*event) error {
		batch := db.NewBatch(d, "bench", 256, storeEach)
		return func(e *event) error { return batch.Do(ctx, e) }
	})
}

// storeEach is store for many events, with Each.
func storeEach(ctx context.Context, tx *db.Tx, items []*event) error {
	events, deliveries := make([][]any, len(items)), make([][]any, len(items))
	for i, e := range items {
		events[i] = []any{e.request, db.Micros(tx.Now()), e.body}
	}
	err := tx.Each(ctx, "inserting", `INSERT INTO bench_events (request, at, body) VALUES ($1, $2, $3) RETURNING id`, events,
		func(i int, row db.Row) error { return row.Scan(&items[i].id) })
	if err != nil {
		return err
	}
	for i, e := range items {
		events[i] = []any{e.id}
		deliveries[i] = []any{e.id, e.channel}
	}
	err = tx.Each(ctx, "inserting", `INSERT INTO bench_deliveries (event, channel, state) VALUES ($1, $2, 0) RETURNING id`, deliveries,
		func(i int, row db.Row) error {
			var id int64
			err := row.Scan(&id)
			deliveries[i] = []any{id}
			return err
		})
	if err != nil {
		return err
	}
	if err := tx.Each(ctx, "updating", `UPDATE bench_deliveries SET state = 1 WHERE id = $1`, deliveries, nil); err != nil {
		return err
	}
	return tx.Each(ctx, "updating", `UPDATE bench_events SET at = at + 1 WHERE id = $1`, events, nil)
}
