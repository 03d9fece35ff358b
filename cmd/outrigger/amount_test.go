package main

import "testing"

func TestAmount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 records", 1: "1 record", 12: "12 records"} {
		if got := amount(n, "record"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
