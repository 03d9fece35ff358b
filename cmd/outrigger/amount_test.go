package main

import "testing"

func TestAmount(t *testing.T) {
	for n, want := range map[int64]string{0: "0 records are", 1: "1 record is", 12: "12 records are"} {
		if got := amountAre(n, "record"); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}
