package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"outrigger/internal/threads"
)

// printPreview writes a preview for people.
func printPreview(out io.Writer, p *threads.Previewed) error {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	rows := [][]string{
		{"Records", number(p.Records)}, {"Issues", number(p.Issues)}, {"Comments", number(p.Comments)},
		{"Comment mappings", number(p.CommentMappings)}, {"Issue mappings", number(p.IssueMappings)},
		{"Comments without a mapping", listed(p.MissingComments)}, {"Issues without a mapping", listed(p.MissingIssues)},
		{"Duplicate comments", number(p.DuplicateRecords)}, {"Duplicate mappings", number(p.DuplicateMappings)},
		{"Comments that are their own parent", number(p.SelfParents)}, {"In cycles", number(p.Cycles)},
		{"Parent in another issue", number(p.OtherIssue)},
		{"Unreadable in the hierarchy", number(p.Hierarchy.Unreadable)}, {"Unreadable in the mappings", number(p.Mappings.Unreadable)},
		{"Records that will fail", number(p.TotalErrors)},
	}
	for _, reason := range threads.Reasons() {
		if n := p.Errors[reason]; n > 0 {
			rows = append(rows, []string{"  " + string(reason), number(n)})
		}
	}
	if p.Sites.Text != "" {
		rows = append(rows, []string{"Sites", p.Sites.Text})
	}
	return printRows(out, []string{"PREVIEW", "COUNT"}, rows)
}

// listed returns a count and the first of what is missing.
func listed(m threads.Missing) string {
	const enough = 5 // fit on a line; --json has more
	text := strconv.FormatInt(m.Count, 10)
	var ids []string
	for _, id := range m.First[:min(len(m.First), enough)] {
		ids = append(ids, strconv.FormatInt(id, 10))
	}
	if len(ids) > 0 {
		text += ": " + strings.Join(ids, ", ")
	}
	if m.Count > enough {
		text += " …"
	}
	return text
}

// remarks lists what to look at in the files, besides single records.
func remarks(p *threads.Previewed) (list []string) {
	if p.Sites.Differ {
		list = append(list, p.Sites.Text)
	}
	list = append(list, p.Incomplete...)
	for _, file := range []struct {
		name string
		*threads.Reading
	}{{"hierarchy", &p.Hierarchy.Reading}, {"mappings", &p.Mappings.Reading}} {
		for _, l := range file.Lines {
			list = append(list, strings.TrimSpace(fmt.Sprintf("%s, line %d: %s %s", file.name, l.Line, l.Reason, l.Text)))
		}
	}
	return list
}
