package api

import (
	"strconv"

	"outrigger/internal/fault"
)

// ruleID is the id of a rule in the query.
type ruleID int64

// UnmarshalText reads it.
func (id *ruleID) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fault.New(fault.Invalid, "Give the id of a rule as a whole number.")
	}
	*id = ruleID(n)
	return nil
}

// enabling is whether a rule or a report is to be switched on, in the query.
type enabling bool

// UnmarshalText reads it.
func (e *enabling) UnmarshalText(text []byte) error {
	on, err := strconv.ParseBool(string(text))
	if err != nil {
		return fault.New(fault.Invalid, "Use true or false.")
	}
	*e = enabling(on)
	return nil
}
