package config

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDate(t *testing.T) {
	var d Date
	if err := d.UnmarshalText([]byte("2028-02-29")); err != nil || d.Time().Unix() != 1835395200 {
		t.Errorf("%v, %v", d.Time(), err)
	}
	for _, text := range []string{"", "2027-02-29", "31.1.2027", "2027-01-31T00:00:00Z", "soon"} {
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is taken for a date", text)
		}
	}
	if !Date("").Time().IsZero() {
		t.Error("no date is a time")
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "10m": 10 * time.Minute, "7d": 7 * day, "1d12h": 36 * time.Hour, "0": 0, "0s": 0, "250ms": 250 * time.Millisecond, "365d": 365 * day,
	} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err != nil || time.Duration(d) != want {
			t.Errorf("%s: %v, %v", text, time.Duration(d), err)
		}
	}
	for _, text := range []string{"", "7", "d", "-1s", "+1s", "-1d", "1d-2h", "1.5d", "7d7d", "7 d", "200000d", "99999999999999999999d", "1w", "106751d23h47m16.9s"} {
		var d Duration
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %s", text, d)
		}
	}
	for d, want := range map[time.Duration]string{
		7 * day: "7d", 36 * time.Hour: "1d12h", 90 * time.Second: "1m30s", 10 * time.Minute: "10m", time.Hour: "1h", 0: "0s",
	} {
		if got := Duration(d).String(); got != want {
			t.Errorf("%v is written %s, not %s", d, got, want)
		}
	}
}

func TestDurationRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Duration(rapid.Int64Min(0).Draw(t, "d"))
		var back Duration
		if err := back.UnmarshalText([]byte(d.String())); err != nil || back != d {
			t.Fatalf("%d is written %s and read %d, %v", d, d, back, err)
		}
	})
}

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{
		"0": 0, "1000": 1000, "25MiB": 25 << 20, "4 GiB": 4 << 30, "1KiB": 1024, "8388607TiB": 8388607 << 40,
	} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
	}
	for _, text := range []string{"", "MiB", "-1", "+1", "25MB", "25 MiB ", "1.5MiB", "8388608TiB", "9223372036854775808"} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %d", text, s)
		}
	}
}

func TestSizeRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Size(rapid.Int64Min(0).Draw(t, "s")) << rapid.SampledFrom([]int{0, 10, 20}).Draw(t, "shift")
		if s < 0 {
			return
		}
		var back Size
		if err := back.UnmarshalText([]byte(s.String())); err != nil || back != s {
			t.Fatalf("%d is written %s and read %d, %v", int64(s), s, int64(back), err)
		}
	})
}
