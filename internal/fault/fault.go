// Package fault is the one error type of the program: a closed set of codes,
// a message that may be shown to the person who asked, and a cause that may not.
//
// Domain code returns these errors; rest and console each render them in one
// place. An error of any other type counts as Internal and is never shown.
package fault

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Code says what kind of failure an error is. The set is closed: REST and
// the console map each to one status.
type Code string

const (
	Invalid         Code = "invalid"         // what was given is wrong; Fields say where
	Unauthenticated Code = "unauthenticated" // no credentials, or wrong ones
	Forbidden       Code = "forbidden"       // signed in, but not allowed
	NotFound        Code = "not_found"       // no such thing
	Conflict        Code = "conflict"        // the present state does not allow it
	TooLarge        Code = "too_large"       // over a limit, which the message names
	RateLimited     Code = "rate_limited"    // too often; RetryAfter says when again
	Unavailable     Code = "unavailable"     // something needed does not answer; the message names it
	Internal        Code = "internal"        // everything else
)

// Field is what is wrong with one member of what was given.
type Field struct {
	Name    string
	Message string
}

// Error is an error with a public message. Build it with New or Wrap.
type Error struct {
	Code       Code
	Message    string        // one sentence for the person who asked, saying what to do
	Fields     []Field       // for Invalid: every wrong member, not only the first
	RetryAfter time.Duration // for RateLimited and Unavailable: when to try again; 0 is unknown

	cause error
}

func (e *Error) Error() string {
	s := e.Message
	for _, f := range e.Fields {
		s += "; " + f.Name + ": " + f.Message
	}
	if e.cause != nil {
		s = strings.TrimSuffix(s, ".") + ": " + e.cause.Error()
	}
	return s
}

// Unwrap returns the hidden cause.
func (e *Error) Unwrap() error { return e.cause }

// New makes an error of code with a public message.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Wrap makes an error of code with a public message and a hidden cause.
func Wrap(cause error, code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), cause: cause}
}

// As returns err as an *Error. An error that is none becomes Internal, with err
// as its hidden cause; nil stays nil.
func As(err error) *Error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Code: Internal, Message: "An internal error occurred.", cause: err}
}

// CodeOf is the code of err: Internal for a foreign error, "" for nil.
func CodeOf(err error) Code {
	if e := As(err); e != nil {
		return e.Code
	}
	return ""
}

// Is reports whether err has the code.
func Is(err error, code Code) bool { return err != nil && CodeOf(err) == code }

// TooOften makes a RateLimited error: the caller may try again after wait.
func TooOften(wait time.Duration, format string, args ...any) *Error {
	return &Error{Code: RateLimited, Message: fmt.Sprintf(format, args...), RetryAfter: wait}
}

// InvalidField makes an Invalid error about one member.
func InvalidField(name, format string, args ...any) *Error {
	message := fmt.Sprintf(format, args...)
	return &Error{Code: Invalid, Message: message, Fields: []Field{{name, message}}}
}

// Fields collects what is wrong with several members, so that all of them are
// named at once.
type Fields []Field

// Add notes one wrong member.
func (f *Fields) Add(name, format string, args ...any) {
	*f = append(*f, Field{Name: name, Message: fmt.Sprintf(format, args...)})
}

// Join notes the members that err names and f does not name yet, so that every
// check of one input is heard. An error that names no members is given back.
func (f *Fields) Join(err error) error {
	e := As(err)
	if e == nil || e.Code != Invalid || len(e.Fields) == 0 {
		return err
	}
	noted := *f
	for _, field := range e.Fields {
		if !slices.ContainsFunc(noted, func(n Field) bool { return n.Name == field.Name }) {
			*f = append(*f, field)
		}
	}
	return nil
}

// Every is what errs say of one input, in one error that names every member; nil
// where all of them are nil. The first that names no members is given back alone.
func Every(errs ...error) error {
	var all Fields
	for _, err := range errs {
		if err := all.Join(err); err != nil {
			return err
		}
	}
	return all.Err()
}

// Renamed is an Invalid error in which rename has changed what is said of each member, which
// is said once then. Other errors stay as they are.
func Renamed(err error, rename func(*Field)) error {
	e := As(err)
	if e == nil || e.Code != Invalid {
		return err
	}
	renamed := *e
	renamed.Fields = nil
	for _, field := range e.Fields {
		if rename(&field); !slices.Contains(renamed.Fields, field) {
			renamed.Fields = append(renamed.Fields, field)
		}
	}
	return &renamed
}

// Err is nil when nothing was noted, else an Invalid error that names every
// member. Its message is that of the only member, or counts them.
func (f Fields) Err() error {
	switch len(f) {
	case 0:
		return nil
	case 1:
		return InvalidField(f[0].Name, "%s", f[0].Message)
	}
	return &Error{Code: Invalid, Message: fmt.Sprintf("%d members are invalid; see errors.", len(f)), Fields: f}
}
