package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"

	"outrigger/internal/phrase"
	"outrigger/internal/rest"
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

// printList prints a list: as JSON, or as a table with a row for each.
func printList[T any](s streams, asJSON bool, list []T, header []string, row func(*T) []string) error {
	if asJSON {
		return printJSON(s.out, append([]T{}, list...)) // of none [], not null
	}
	rows := make([][]string, len(list))
	for i := range list {
		rows[i] = row(&list[i])
	}
	return printRows(s.out, header, rows)
}

// printAll prints every page of a list of the server.
func printAll[T any](
	ctx context.Context, s streams, f askFlags, path string, query url.Values, header []string, row func(*T) []string,
) error {
	server, err := f.client()
	if err != nil {
		return err
	}
	all, err := list[T](ctx, server, path, query)
	if err != nil {
		return err
	}
	return printList(s, f.JSON, all, header, row)
}

// printPage prints a list of the server that has one page only.
func printPage[T any](ctx context.Context, s streams, f askFlags, path string, header []string, row func(*T) []string) error {
	var page rest.List[T]
	if err := f.send(ctx, "GET", path, nil, &page); err != nil {
		return err
	}
	return printList(s, f.JSON, page.Items, header, row)
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
