package work

import (
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBackoff(t *testing.T) {
	b := Backoff{Steps: []time.Duration{5 * time.Second, 30 * time.Second, time.Hour}, Jitter: 0.1}
	half := func() float64 { return 0.5 }
	for step, want := range map[int]time.Duration{
		-1: 5250 * time.Millisecond, 0: 5250 * time.Millisecond, 1: 31500 * time.Millisecond, 2: 63 * time.Minute, 3: 63 * time.Minute, 1000: 63 * time.Minute,
	} {
		if got := b.Delay(step, half); got != want {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	for range 1000 {
		if got := b.Delay(2, rand.Float64); got < time.Hour || got >= 66*time.Minute {
			t.Fatalf("a jittered hour is %v", got)
		}
	}
	if got := (Backoff{}).Delay(3, nil); got != 0 {
		t.Errorf("without steps: %v", got)
	}
	if got := (Backoff{Steps: b.Steps}).Delay(0, nil); got != 5*time.Second {
		t.Errorf("without jitter: %v", got)
	}
}

func TestGate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var g Gate
		now := time.Date(2026, 11, 5, 0, 0, 0, 0, time.UTC)
		if !g.Open(now) || !g.Open(time.Time{}) {
			t.Fatal("the zero gate is closed")
		}
		latest, failures := time.Time{}, 0
		for range 20 {
			now = now.Add(time.Duration(rapid.IntRange(0, 100).Draw(t, "passes")) * time.Second)
			if rapid.IntRange(0, 4).Draw(t, "success") == 0 {
				g.Success()
				latest, failures = time.Time{}, 0
			} else {
				delay := time.Duration(rapid.IntRange(0, 300).Draw(t, "delay")) * time.Second
				g.Close(now, delay)
				failures++
				if until := now.Add(delay); until.After(latest) {
					latest = until
				}
			}
			if g.Step != failures || g.Open(now) != !now.Before(latest) || !g.Open(latest) {
				t.Fatalf("at %v: %+v, want closed until %v after %d failures", now, g, latest, failures)
			}
		}
	})
}

func TestReadAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		body io.Reader
		want string
	}{
		"short":       {strings.NewReader("no_service"), "no_service"},
		"empty":       {strings.NewReader(""), ""},
		"long":        {strings.NewReader(strings.Repeat("a", 5000)), strings.Repeat("a", MaxAnswer)},
		"cut rune":    {strings.NewReader(strings.Repeat("a", MaxAnswer-1) + "é"), strings.Repeat("a", MaxAnswer-1)},
		"cut emoji":   {strings.NewReader(strings.Repeat("a", MaxAnswer-3) + "😀x"), strings.Repeat("a", MaxAnswer-3)},
		"whole rune":  {strings.NewReader(strings.Repeat("a", MaxAnswer-2) + "éx"), strings.Repeat("a", MaxAnswer-2) + "é"},
		"not UTF-8":   {strings.NewReader("a\xffb\x00c"), "a\uFFFDb\uFFFDc"},
		"escapes":     {strings.NewReader("a\x1b[2Jb\x07\x7f\u009bc\r\nd\te"), "a\uFFFD[2Jb\uFFFD\uFFFD\uFFFDc\nd\te"},
		"broken body": {io.MultiReader(strings.NewReader("half"), iotest.ErrReader(errors.New("reset"))), "half"},
	} {
		if got := ReadAnswer(c.body); got != c.want {
			t.Errorf("%s: %.40q (%d bytes)", name, got, len(got))
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		got := ReadAnswer(strings.NewReader(rapid.String().Draw(t, "body") + string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))))
		if !utf8.ValidString(got) || strings.Contains(got, "\x00") {
			t.Fatalf("no database takes %q", got)
		}
	})
}

func TestAttemptIsStoredByName(t *testing.T) {
	a := Attempt{At: time.Date(2026, 11, 5, 7, 28, 0, 0, time.UTC), Status: 429, Answer: "slow down", Took: 12 * time.Millisecond, Err: "x"}
	raw, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"at":"2026-11-05T07:28:00Z","status":429,"answer":"slow down","took":12000000,"error":"x"}`; string(raw) != want {
		t.Errorf("stored as %s", raw)
	}
	var back Attempt
	if err := json.Unmarshal(raw, &back); err != nil || back != a {
		t.Errorf("read back: %s %v", cmp.Diff(a, back), err)
	}
}
