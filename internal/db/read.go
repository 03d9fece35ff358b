package db

import "context"

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
