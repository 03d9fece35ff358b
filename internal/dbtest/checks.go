package dbtest

import (
	"flag"
	"strconv"
)

// Checks has rapid try each property n times, where -rapid.checks says nothing: a
// try on a database takes long. back has it try as often as before. Neither may be
// called while a property is checked, so a package with parallel ones calls it in
// TestMain.
func Checks(n int) (back func()) {
	if !flag.Parsed() { // in TestMain
		flag.Parse()
	}
	f := flag.Lookup("rapid.checks")
	if f.Value.String() != f.DefValue {
		return func() {}
	}
	set := func(value string) {
		if err := f.Value.Set(value); err != nil {
			panic(err)
		}
	}
	set(strconv.Itoa(n))
	return func() { set(f.DefValue) }
}
