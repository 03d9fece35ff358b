package console

import (
	"strconv"
	"time"

	"outrigger/internal/fault"
)

// Asked is what a confirmation about many things asked: when, and how many they
// were. The answer brings it back, so that what comes later is left alone.
type Asked struct {
	At    time.Time // zero: nothing was asked
	Count int64
}

// Hidden is the question as the confirmation posts it.
func (a Asked) Hidden() []Hidden {
	return []Hidden{{Name: "asOf", Value: a.At.UTC().Format(time.RFC3339Nano)}, {Name: "count", Value: strconv.FormatInt(a.Count, 10)}}
}

// Asked reads the question that the form answers.
func (f *Form) Asked() (a Asked, err error) {
	if f.Get("asOf") == "" {
		return a, nil
	}
	a.At, err = time.Parse(time.RFC3339Nano, f.Get("asOf"))
	var wrong error
	a.Count, wrong = strconv.ParseInt(f.Get("count"), 10, 64)
	if err != nil || wrong != nil || a.At.IsZero() || a.Count < 0 {
		return Asked{}, fault.New(fault.Invalid, "The question of this form cannot be read. Go back and ask again.")
	}
	return a, nil
}
