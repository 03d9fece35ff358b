package db

import "database/sql/driver"

// Column is one column of an Insert: the value that a row of T has in it.
type Column[T any] interface {
	// value returns what the driver takes: above, the value of the row before, where it
	// is the same.
	value(row T, above driver.Value) driver.Value
	// array returns the values of all rows, and the type of each in PostgreSQL.
	array(rows []T) (kind string, values any)
}

type number[T any] func(T) int64

// Number is a column of numbers.
func Number[T any](of func(T) int64) Column[T] { return number[T](of) }

func (of number[T]) value(row T, above driver.Value) driver.Value {
	if n := of(row); above != n {
		return n
	}
	return above
}

func (of number[T]) array(rows []T) (string, any) { return "bigint", each(rows, of) }

type text[T any] func(T) string

// Text is a column of texts.
func Text[T any](of func(T) string) Column[T] { return text[T](of) }

func (of text[T]) value(row T, above driver.Value) driver.Value {
	if s := of(row); above != s {
		return s
	}
	return above
}

func (of text[T]) array(rows []T) (string, any) { return "text", each(rows, of) }

type textOrNull[T any] func(T) *string

// TextOrNull is a column of texts, of which nil is NULL.
func TextOrNull[T any](of func(T) *string) Column[T] { return textOrNull[T](of) }

func (of textOrNull[T]) value(row T, _ driver.Value) driver.Value {
	if s := of(row); s != nil {
		return *s
	}
	return nil
}

func (of textOrNull[T]) array(rows []T) (string, any) { return "text", each(rows, of) }

type blob[T any] func(T) []byte

// Blob is a column of bytes, of which nil is NULL.
func Blob[T any](of func(T) []byte) Column[T] { return blob[T](of) }

func (of blob[T]) value(row T, _ driver.Value) driver.Value {
	if b := of(row); b != nil {
		return b
	}
	return nil
}

func (of blob[T]) array(rows []T) (string, any) { return "bytea", each(rows, of) }

// each returns what each row has.
func each[T, V any](rows []T, of func(T) V) []V {
	values := make([]V, len(rows))
	for i, row := range rows {
		values[i] = of(row)
	}
	return values
}
