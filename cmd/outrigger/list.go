package main

import (
	"context"
	"math"
	"net/url"
	"strconv"

	"outrigger/internal/rest"
)

// pageSize is the most that a list gives at once.
const pageSize = 1000

// list asks for every page of a list.
func list[T any](ctx context.Context, c *client, path string, query url.Values) ([]T, error) {
	return listTo[T](ctx, c, path, query, math.MaxInt)
}

// listTo asks for pages of a list until there are enough items.
func listTo[T any](ctx context.Context, c *client, path string, query url.Values, enough int) ([]T, error) {
	all := []T{}
	for {
		query.Set("limit", strconv.Itoa(min(pageSize, enough-len(all))))
		var page rest.List[T]
		if err := c.do(ctx, "GET", path+"?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.Next == "" || len(all) == enough {
			return all, nil
		}
		query.Set("after", page.Next)
	}
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
