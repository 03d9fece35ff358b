package console

import (
	"testing"
	"time"
)

func TestRelative(t *testing.T) {
	now := sampleTime
	const day = 24 * time.Hour
	for ago, want := range map[time.Duration]string{
		0: "just now", 59 * time.Second: "just now",
		time.Minute: "1 minute ago", 3*time.Minute + 59*time.Second: "3 minutes ago", 59 * time.Minute: "59 minutes ago",
		time.Hour: "1 hour ago", 23*time.Hour + 59*time.Minute: "23 hours ago",
		day: "1 day ago", 30*day - 1: "29 days ago", 30 * day: "2025-10-21",
		-time.Second: "in a moment", -time.Minute: "in 1 minute", -5 * time.Hour: "in 5 hours", -7 * day: "in 7 days", -30 * day: "2025-12-20",
	} {
		if got := relative(now.Add(-ago), now); got != want {
			t.Errorf("%v ago: %q, want %q", ago, got, want)
		}
	}
}

func TestTook(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "<1 ms", 999 * time.Microsecond: "<1 ms", 1999 * time.Microsecond: "1 ms", 250 * time.Millisecond: "250 ms", 12345 * time.Millisecond: "12.3 s",
	} {
		if got := took(d); got != want {
			t.Errorf("%v took %q, want %q", d, got, want)
		}
	}
}
