package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"outrigger/internal/phrase"
)

// printRows writes a table with a header for people on a terminal, and lines
// with tabs between their cells for everything else.
func printRows(out io.Writer, header []string, rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = phrase.Line(row[i])
		}
	}
	if isTerminal(out) {
		aligned := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(aligned, strings.Join(header, "\t"))
		for _, row := range rows {
			fmt.Fprintln(aligned, strings.Join(row, "\t"))
		}
		return aligned.Flush()
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(out, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return nil
}

// dash stands for nothing in a table.
func dash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}

// oneLine keeps a cell of a table a cell.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// stamp writes a time to the minute, "-" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// say prints v as JSON, or else a sentence for people.
func (s streams) say(asJSON bool, v any, format string, args ...any) error {
	if asJSON {
		return printJSON(s.out, v)
	}
	_, err := fmt.Fprintf(s.out, format+"\n", args...)
	return err
}

// printJSON writes v for scripts, on one line.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
