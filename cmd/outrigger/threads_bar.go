package main

import (
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// units of a progress bar.
type unit bool

const (
	unitRecords unit = false
	unitBytes   unit = true
)

// bar shows progress on standard error, where that is a terminal.
type bar struct {
	bar  *progressbar.ProgressBar // nil: not shown
	size int64
}

// barEvery is how often the bar is drawn: smooth enough, over slow lines too.
const barEvery = 100 * time.Millisecond

func newBar(s streams, label string, u unit) *bar {
	f, ok := s.err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &bar{}
	}
	return &bar{bar: progressbar.NewOptions64(-1,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(label), progressbar.OptionShowBytes(bool(u)),
		progressbar.OptionShowCount(), progressbar.OptionThrottle(barEvery), progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true),
		progressbar.OptionSetSpinnerChangeInterval(0), // else it draws itself, also when it is gone
	)}
}

// set shows how much of how much is done; a size of 0 is unknown.
func (b *bar) set(done, size int64) {
	if b.bar == nil {
		return
	}
	if size > 0 && size != b.size {
		b.size = size
		b.bar.ChangeMax64(size)
	}
	_ = b.bar.Set64(done) // a terminal that is gone is no failure of the work
}

// part shows how much is done, of 1.
func (b *bar) part(done float64) {
	const steps = 100
	b.set(int64(done*steps), steps)
}

// end takes the bar away.
func (b *bar) end() {
	if b.bar != nil {
		_ = b.bar.Clear()
	}
}
