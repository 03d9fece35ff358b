package alerts

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"outrigger/internal/db"
	"outrigger/internal/secret"
)

// observe brings what is stored up to what is seen, and returns it, the oldest
// first. Unless the list is whole, nothing counts as gone.
func (s *Service) observe(ctx context.Context, lease *db.Lease, seen []Notice, whole bool) (known []Told, err error) {
	if known, err = s.read(ctx); err != nil {
		return nil, err
	}
	now := db.Time(db.Micros(s.o.Clock())) // as it will be read
	present := make(map[string]Notice, len(seen))
	for _, n := range seen {
		n.Text = shortened(n.Text)
		present[string(secret.Fingerprint(n.Key))] = n
	}
	var kept, changed []Told
	for _, t := range known {
		n, there := present[string(t.key)]
		delete(present, string(t.key))
		before := t
		switch {
		case there:
			t.Text, t.Link, t.Bad, t.GoneAt = n.Text, n.Link, n.Bad, time.Time{}
		case whole && t.GoneAt.IsZero():
			t.GoneAt = now
		}
		if t.Text != before.Text || t.Link != before.Link || t.Bad != before.Bad || !t.GoneAt.Equal(before.GoneAt) {
			changed = append(changed, t)
		}
		if t.toldAt.IsZero() && !t.GoneAt.IsZero() {
			continue // it went before it was told of
		}
		kept = append(kept, t)
	}
	for _, n := range seen {
		if len(kept) >= maxNotices {
			break
		}
		key := secret.Fingerprint(n.Key)
		n, there := present[string(key)]
		if !there {
			continue
		}
		delete(present, string(key))
		t := Told{Notice: n, Since: now, key: key}
		kept, changed = append(kept, t), append(changed, t)
	}
	if len(changed) == 0 {
		return kept, nil
	}
	return kept, s.o.DB.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		for _, t := range changed {
			if err := put(ctx, tx, t); err != nil {
				return err
			}
		}
		return nil
	}))
}

// put stores a notice, or forgets one that went before it was told of.
func put(ctx context.Context, tx *db.Tx, t Told) error {
	if t.toldAt.IsZero() && !t.GoneAt.IsZero() {
		return tx.Do(ctx, "storing a notice", `DELETE FROM alerts_notices WHERE key = $1`, t.key)
	}
	return tx.Do(ctx, "storing a notice", `INSERT INTO alerts_notices (key, text, link, bad, since, told_at, gone_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7)
		ON CONFLICT (key) DO UPDATE SET text = excluded.text, link = excluded.link, bad = excluded.bad, gone_at = excluded.gone_at`,
		t.key, t.Text, t.Link, db.Bit(t.Bad), db.Micros(t.Since), db.Micros(t.toldAt), db.Micros(t.GoneAt))
}

func (s *Service) read(ctx context.Context) ([]Told, error) {
	return db.ReadList(ctx, s.o.DB, "reading notices", func(row db.Row) (t Told, err error) {
		err = row.Scan(&t.key, &t.Text, &t.Link, &t.Bad, db.At(&t.Since), db.At(&t.toldAt), db.At(&t.GoneAt))
		return t, err
	}, `SELECT key, text, link, bad, since, told_at, gone_at FROM alerts_notices ORDER BY since, key`)
}

// settle notes that a message was sent.
func (s *Service) settle(ctx context.Context, lease *db.Lease, m Message) error {
	now := db.Micros(s.o.Clock())
	return s.o.DB.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		for _, t := range m.Present {
			if err := tx.Do(ctx, "noting what was told", `UPDATE alerts_notices SET told_at = $1 WHERE key = $2`, now, t.key); err != nil {
				return err
			}
		}
		for _, t := range m.Ended {
			if err := tx.Do(ctx, "forgetting a notice", `DELETE FROM alerts_notices WHERE key = $1`, t.key); err != nil {
				return err
			}
		}
		return tx.Do(ctx, "forgetting a failure", `DELETE FROM alerts_failure`)
	}))
}

// fail notes that a message could not be sent.
func (s *Service) fail(ctx context.Context, lease *db.Lease, f Failure) error {
	return s.o.DB.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		return tx.Do(ctx, "noting a failure",
			`INSERT INTO alerts_failure (id, url, failures, failed_at, next_at, reason) VALUES (1, $1, $2, $3, $4, $5)
			ON CONFLICT (id) DO UPDATE SET url = excluded.url, failures = excluded.failures, failed_at = excluded.failed_at,
			next_at = excluded.next_at, reason = excluded.reason`,
			s.url, f.count, db.Micros(f.At), db.Micros(f.nextAt), shortened(f.Reason))
	}))
}

// Failure is why the last message to this channel could not be sent; nil where
// it was, or none was yet.
func (s *Service) Failure(ctx context.Context) (*Failure, error) {
	var f Failure
	found, err := s.o.DB.Find(ctx, "reading a failure", []any{&f.count, db.At(&f.At), db.At(&f.nextAt), &f.Reason},
		`SELECT failures, failed_at, next_at, reason FROM alerts_failure WHERE url = $1`, s.url)
	if err != nil || !found {
		return nil, err
	}
	return &f, nil
}

// shortened is a text that fits its row, as both databases take it.
func shortened(text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
	if utf8.RuneCountInString(text) <= maxText {
		return text
	}
	return string([]rune(text)[:maxText]) + "…"
}
