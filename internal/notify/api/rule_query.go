package api

import (
	"strconv"

	"outrigger/internal/fault"
)

// ruleID is the id of a rule in the query.
type ruleID int64

// UnmarshalText reads it.
func (id *ruleID) UnmarshalText(text []byte) error { return readID((*int64)(id), text, "rule") }

// readID reads the id of something called of.
func readID(id *int64, text []byte, of string) error {
	n, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil || n < 1 {
		return fault.New(fault.Invalid, "Give the id of a %s as a whole number.", of)
	}
	*id = n
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
