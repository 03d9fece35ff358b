package config

import (
	"fmt"
	"time"
)

// Date is a day, written as 2027-01-31; "" is none.
type Date string

// UnmarshalText reads a date.
func (d *Date) UnmarshalText(text []byte) error {
	if _, err := time.Parse(time.DateOnly, string(text)); err != nil {
		return fmt.Errorf("%q is not a date; write it as 2027-01-31", text)
	}
	*d = Date(text)
	return nil
}

// Time is when the day begins, in UTC; the zero time for none.
func (d Date) Time() time.Time {
	t, _ := time.Parse(time.DateOnly, string(d)) // it was judged when it was read
	return t
}
