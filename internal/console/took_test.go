package console

import (
	"testing"
	"time"
)

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "<1 ms", 999 * time.Microsecond: "<1 ms", 1999 * time.Microsecond: "1 ms", 250 * time.Millisecond: "250 ms", 12345 * time.Millisecond: "12.3 s",
	} {
		if got := took(d); got != want {
			t.Errorf("%v took %q, want %q", d, got, want)
		}
	}
}
