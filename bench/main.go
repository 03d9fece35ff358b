// Command bench measures the ordinary binary against what the architecture
// says it should hold, and prints a table. Figures are ratios within one run
// where they can be, since machines differ; it fails when something
// acknowledged did not arrive, and never by the clock.
//
//	make bench
//	go run ./bench -time 30s -only sqlite,slow
//
// PostgreSQL is measured where TEST_POSTGRES_URL names a server.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"outrigger/internal/loadtest"
)

// bench is one run.
type bench struct {
	binary string
	dir    string        // for the data of nodes
	took   time.Duration // of each measurement
	table  *tabwriter.Writer
	rate   float64 // events a second that SQLite took; 0 before it is measured

	grownBy float64 // of what the architecture has a grown database hold

	ends []func() // of what the present measurement started
}

func main() {
	took := flag.Duration("time", 10*time.Second, "how long each measurement takes")
	only := flag.String("only", "sqlite,postgres,slow,growth,mail,status,export,migration,idle",
		"what to measure; growth is growth-events, growth-rules and growth-waiting")
	grown := flag.Float64("grown", 1, "how much of the rows that growth fills a database with")
	flag.Parse()
	var err error
	switch flag.Arg(0) { // what bench.self starts
	case "forward":
		err = forward(flag.Arg(1), flag.Arg(2))
	case "constant":
		err = constant(flag.Arg(1))
	default:
		chosen, wrong := choose(strings.Split(*only, ","))
		if wrong != nil {
			fmt.Fprintln(os.Stderr, "bench:", wrong)
			os.Exit(2)
		}
		err = run(context.Background(), *took, *grown, chosen)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, took time.Duration, grown float64, chosen []measurement) error {
	dir, err := os.MkdirTemp("", "outrigger-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary, err := loadtest.Build(ctx, dir)
	if err != nil {
		return err
	}
	b := &bench{binary: binary, dir: dir, took: took, grownBy: grown, table: tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)}
	defer b.table.Flush()
	fmt.Printf("%s %s/%s, %d processors, %s a measurement\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), took)
	b.row("what", "measured", "to hold")
	for _, m := range chosen {
		if err := b.measure(ctx, m.do); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// failure is what ended a measurement.
type failure struct{ error }

// check ends the measurement where there is an error.
func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// must is check of a function that returns a value.
func must[T any](v T, err error) T {
	check(err)
	return v
}

// measure returns the failure of a measurement, and ends what it started, the last first.
func (b *bench) measure(ctx context.Context, do func(*bench, context.Context)) (err error) {
	defer func() {
		for _, end := range slices.Backward(b.ends) {
			end()
		}
		b.ends = nil
		if r := recover(); r != nil {
			f, ok := r.(failure)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	do(b, ctx)
	return nil
}

// atEnd has something done when the present measurement is over.
func (b *bench) atEnd(do func()) { b.ends = append(b.ends, do) }

// row adds a line to the table.
func (b *bench) row(what, measured, hold string) {
	fmt.Fprintf(b.table, "%s\t%s\t%s\n", what, measured, hold)
}

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

func micros(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

func median(took []time.Duration) time.Duration { return loadtest.Quantile(took, 0.5) }
