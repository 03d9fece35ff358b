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
	if len(os.Args) == 4 && os.Args[1] == "forward" {
		if err := forward(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "forward:", err)
			os.Exit(1)
		}
		return
	}
	if len(os.Args) == 3 && os.Args[1] == "constant" {
		if err := constant(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "constant:", err)
			os.Exit(1)
		}
		return
	}
	took := flag.Duration("time", 10*time.Second, "how long each measurement takes")
	only := flag.String("only", "sqlite,postgres,slow,growth,mail,status,export,migration,idle",
		"what to measure; growth is growth-events, growth-rules and growth-waiting")
	grown := flag.Float64("grown", 1, "how much of the rows that growth fills a database with")
	flag.Parse()
	chosen, err := choose(strings.Split(*only, ","))
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	if err := run(context.Background(), *took, *grown, chosen); err != nil {
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
		err := m.measure(b, ctx)
		b.end()
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// row adds a line to the table.
func (b *bench) row(what, measured, hold string) {
	fmt.Fprintf(b.table, "%s\t%s\t%s\n", what, measured, hold)
}

func mib(bytes int64) string { return fmt.Sprintf("%d MiB", bytes>>20) }

func micros(d time.Duration) string { return fmt.Sprintf("%d µs", d.Microseconds()) }

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}
