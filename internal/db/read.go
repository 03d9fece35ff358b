package db

import (
	"context"
	"database/sql"
	"errors"
)

// Get is Tx.Get in a transaction of its own.
func (d *DB) Get(ctx context.Context, what string, into []any, q string, args ...any) error {
	return doing(what, d.Read(ctx, func(tx *Tx) error { return tx.QueryRow(ctx, q, args...).Scan(into...) }))
}

// Find is Tx.Find in a transaction of its own.
func (d *DB) Find(ctx context.Context, what string, into []any, q string, args ...any) (found bool, err error) {
	err = d.Get(ctx, what, into, q, args...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// Do is Tx.Do in a transaction of its own.
func (d *DB) Do(ctx context.Context, what, q string, args ...any) error {
	return doing(what, d.Write(ctx, func(tx *Tx) error {
		_, err := tx.Exec(ctx, q, args...)
		return err
	}))
}

// Read is DB.Read for what fn returns.
func Read[T any](ctx context.Context, d *DB, fn func(tx *Tx) (T, error)) (read T, err error) {
	err = d.Read(ctx, func(tx *Tx) (err error) {
		read, err = fn(tx)
		return err
	})
	return read, err
}

// ReadList is List in a transaction of its own.
func ReadList[T any](ctx context.Context, d *DB, what string, scan func(row Row) (T, error), q string, args ...any) ([]T, error) {
	return Read(ctx, d, func(tx *Tx) ([]T, error) { return List(ctx, tx, what, scan, q, args...) })
}

// Write is DB.Write for what fn returns.
func Write[T any](ctx context.Context, d *DB, fn func(tx *Tx) (T, error)) (written T, err error) {
	err = d.Write(ctx, func(tx *Tx) (err error) {
		written, err = fn(tx)
		return err
	})
	return written, err
}
