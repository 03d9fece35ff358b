package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"unicode"
)

// printRows writes a table with a header for people on a terminal, and lines
// with tabs between their cells for everything else.
func printRows(out io.Writer, header []string, rows [][]string) error {
	for _, row := range rows {
		for i := range row {
			row[i] = printable(row[i])
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

// printable has spaces in place of what would forge a cell or a line, or what a
// terminal would obey: names of rules, branches and users are what others typed.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r >= '\u202A' && r <= '\u202E' || r >= '\u2066' && r <= '\u2069' { // the last turn the direction of text
			return ' '
		}
		return r
	}, s)
}

// printJSON writes v for scripts, on one line.
func printJSON(out io.Writer, v any) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
