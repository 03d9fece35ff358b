package db

import (
	"fmt"
	"time"
)

// Micros is a time as the database keeps it: microseconds since 1970, and 0
// for the zero time.
func Micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// Time is the inverse of Micros, in UTC.
func Time(us int64) time.Time {
	if us == 0 {
		return time.Time{}
	}
	return time.UnixMicro(us).UTC()
}

// Bit is a bool as the database keeps it: 1 or 0.
func Bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// At is where to scan a time that was kept as Micros.
func At(t *time.Time) any { return (*micros)(t) }

type micros time.Time

func (m *micros) Scan(src any) error {
	us, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is kept as %T", src)
	}
	*m = micros(Time(us))
	return nil
}
