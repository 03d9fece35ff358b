package secret

import (
	"context"
	"fmt"

	"outrigger/internal/db"
)

// Place is a column whose values are sealed. Every part that seals names its
// places, so that a rotation reaches all of them.
type Place struct {
	Table, Column string
	// Row is an SQL expression over the table: the row that Seal was given.
	Row string
	// Lost is what a row becomes where its value cannot be opened, as
	// assignments of SQL; "" leaves it, for its readers to say so.
	Lost string
}

// canaryPlace is the canary, which proves the key.
var canaryPlace = Place{Table: canaryTable, Column: canaryColumn, Row: "CAST(id AS TEXT)"}

// rotateAtOnce is how many values one transaction seals again: each takes a few
// microseconds, so that a slice stays well below 20 ms.
const rotateAtOnce = 200

// Rotate seals again, with the current key, everything in places that the
// previous one sealed, and the canary last: until then either key opens the
// database. It returns how many values it sealed, and how many open with neither
// key. If it is interrupted, run it again.
func (b *Box) Rotate(ctx context.Context, d *db.DB, places []Place) (sealed, lost int, err error) {
	for _, p := range append(places[:len(places):len(places)], canaryPlace) {
		err := b.eachOld(ctx, d, p, func(tx *db.Tx, row string, old []byte) error {
			plain, err := b.Unseal(old, p.Table, p.Column, row)
			if err != nil {
				tx.AfterCommit(func() { lost++ })
				return nil
			}
			tx.AfterCommit(func() { sealed++ })
			return p.replace(ctx, tx, row, old, b.Seal(plain, p.Table, p.Column, row))
		})
		if err != nil {
			return sealed, lost, fmt.Errorf("encrypting %s.%s again: %w", p.Table, p.Column, err)
		}
	}
	return sealed, lost, nil
}

// Forget gives up everything in places that key does not open, and has key prove
// the database from now on. It is the way out of a lost key. It returns how many
// values are lost.
func Forget(ctx context.Context, d *db.DB, key []byte, places []Place) (lost int, err error) {
	current, err := newSealer(key)
	if err != nil {
		return 0, fmt.Errorf("encryption key: %w", err)
	}
	b := &Box{current: current}
	for _, p := range places {
		err := b.eachOld(ctx, d, p, func(tx *db.Tx, row string, old []byte) error {
			tx.AfterCommit(func() { lost++ })
			if p.Lost == "" {
				return nil
			}
			return tx.Do(ctx, "giving up a value", `UPDATE `+p.Table+` SET `+p.Lost+` WHERE `+p.Row+` = $1 AND `+p.Column+` = $2`, row, old)
		})
		if err != nil {
			return lost, fmt.Errorf("giving up %s.%s: %w", p.Table, p.Column, err)
		}
	}
	return lost, d.Do(ctx, "proving the new key", `UPDATE secret_canary SET sealed = $1 WHERE id = 1`,
		b.Seal(canaryText, canaryTable, canaryColumn, canaryRow))
}

// replace puts a new seal in the place of an old one that is still there.
func (p *Place) replace(ctx context.Context, tx *db.Tx, row string, old, fresh []byte) error {
	return tx.Do(ctx, "storing a value", `UPDATE `+p.Table+` SET `+p.Column+` = $1 WHERE `+p.Row+` = $2 AND `+p.Column+` = $3`,
		fresh, row, old)
}

// eachOld calls fn with every value of a place that a key other than the current
// one sealed, rotateAtOnce of them in each transaction.
func (b *Box) eachOld(ctx context.Context, d *db.DB, p Place, fn func(tx *db.Tx, row string, old []byte) error) error {
	after, more := "", true
	for more {
		err := d.WriteBulk(ctx, func(tx *db.Tx) error {
			found, err := b.old(ctx, tx, p, after)
			if err != nil {
				return err
			}
			for _, v := range found {
				if err := fn(tx, v.row, v.sealed); err != nil {
					return err
				}
			}
			tx.AfterCommit(func() { // not before: an undone transaction is run again
				if more = len(found) == rotateAtOnce; more {
					after = found[len(found)-1].row
				}
			})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// oldValue is a value that another key sealed.
type oldValue struct {
	row    string
	sealed []byte
}

// old reads the next values of a place that another key sealed, by row, from the
// first one after a row.
func (b *Box) old(ctx context.Context, tx *db.Tx, p Place, after string) ([]oldValue, error) {
	return db.List(ctx, tx, "reading values", func(row db.Row) (v oldValue, err error) {
		err = row.Scan(&v.row, &v.sealed)
		return v, err
	}, `SELECT `+p.Row+`, `+p.Column+` FROM `+p.Table+` WHERE `+p.Row+` > $1
		AND LENGTH(`+p.Column+`) > 0 AND SUBSTR(`+p.Column+`, 1, 8) <> $2 ORDER BY `+p.Row+` LIMIT $3`, after, b.current.id[:], rotateAtOnce)
}
