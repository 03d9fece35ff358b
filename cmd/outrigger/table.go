package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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

// printJSON writes v for scripts, on one line.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
