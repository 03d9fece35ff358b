package app

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"outrigger/internal/console"
	"outrigger/internal/db"
)

func TestWhenADiskIsLow(t *testing.T) {
	const gib = 1 << 30
	for _, c := range []struct {
		free, total int64
		want        console.Tone
	}{
		{100 * gib, 1000 * gib, ""},
		{21 * gib, 1000 * gib, ""}, // hardly a fiftieth, and enough for a day
		{19 * gib, 1000 * gib, console.Warn},
		{1 * gib, 1000 * gib, console.Bad},
		{11 * gib, 100 * gib, ""},
		{9 * gib, 100 * gib, console.Warn},
		{1 * gib, 100 * gib, console.Bad},
		{2 * gib, 10 * gib, ""},
		{gib / 2, 10 * gib, console.Warn},
		{gib / 10, 10 * gib, console.Bad},
		{0, 10 * gib, console.Bad},
	} {
		if got := diskTone(db.Space{Free: c.free, Total: c.total}); got != c.want {
			t.Errorf("%s of %s: %q, want %q", db.MiB(c.free), db.MiB(c.total), got, c.want)
		}
	}
}

// The overview and the figures speak of a disk that gets full and of a log that does
// not get shorter, from when that began until it is over.
func TestTheOverviewSpeaksOfTheDisk(t *testing.T) {
	t.Parallel()
	a := newApp(t, withPublicMetrics(settings(t)), Options{NewDatabase: true})
	var free, log atomic.Int64
	a.disk.space = func(string) (db.Space, error) { return db.Space{Free: free.Load(), Total: 100 << 30}, nil }
	a.disk.log = func(context.Context) (int64, error) { return log.Load(), nil }
	free.Store(50 << 30)
	if err := a.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	const full, long = "gets full: 1024 MiB of 102400 MiB are free", "log has 2048 MiB"
	expect := func(want bool) (page string) {
		t.Helper()
		_, page = consolePage(t, a, "/", nil)
		if strings.Contains(page, full) != want || strings.Contains(page, long) != want {
			t.Errorf("the overview should speak of it: %v\n%s", want, page)
		}
		now := figures(t, a)
		for _, name := range []string{`outrigger_attention{kind="disk"}`, `outrigger_attention{kind="database_log"}`} {
			if n, there := now[name]; there != want || want && n != 1 {
				t.Errorf("%s is %v", name, n)
			}
		}
		return page
	}
	expect(false)
	free.Store(1 << 30)
	log.Store(2 << 30)
	expect(true)
	began := a.disk.lowSince
	expect(true)
	if !a.disk.lowSince.Equal(began) {
		t.Error("it begins anew with each look")
	}
	free.Store(50 << 30)
	log.Store(0)
	expect(false)
}
