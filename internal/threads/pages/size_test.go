package pages

import (
	"fmt"
	"testing"

	"outrigger/internal/threads"
)

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1.0 KiB", 5 << 19: "2.5 MiB", 4 << 30: "4.0 GiB"} {
		if got := size(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567"} {
		if got := threads.Thousands(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
	if got := fmt.Sprint(threads.Counted(1, "issue"), ", ", threads.Counted(0, "issue")); got != "1 issue, 0 issues" {
		t.Error(got)
	}
}
