package db

import "database/sql/driver"

// Column is one column of an Insert: what a row of T has in it.
type Column[T any] struct {
	kind string // its type in PostgreSQL
	// value returns what the driver takes: above, the value of the row before, where it is
	// the same.
	value func(row T, above driver.Value) driver.Value
	array func(rows []T) any
}

// Number is a column of numbers.
func Number[T any](of func(T) int64) Column[T] {
	return Column[T]{"bigint", repeating(of), each(of)}
}

// Text is a column of texts.
func Text[T any](of func(T) string) Column[T] {
	return Column[T]{"text", repeating(of), each(of)}
}

// TextOrNull is a column of texts, of which nil is NULL.
func TextOrNull[T any](of func(T) *string) Column[T] {
	return Column[T]{"text", func(row T, _ driver.Value) driver.Value {
		if s := of(row); s != nil {
			return *s
		}
		return nil
	}, each(of)}
}

// Blob is a column of bytes, of which nil is NULL.
func Blob[T any](of func(T) []byte) Column[T] {
	return Column[T]{"bytea", func(row T, _ driver.Value) driver.Value {
		if b := of(row); b != nil {
			return b
		}
		return nil
	}, each(of)}
}

func repeating[T any, V comparable](of func(T) V) func(T, driver.Value) driver.Value {
	return func(row T, above driver.Value) driver.Value {
		if v := of(row); above != any(v) {
			return v
		}
		return above
	}
}

func each[T, V any](of func(T) V) func([]T) any {
	return func(rows []T) any {
		values := make([]V, len(rows))
		for i, row := range rows {
			values[i] = of(row)
		}
		return values
	}
}
