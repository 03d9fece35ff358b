package main

import (
	"context"
	"fmt"

	"outrigger/internal/attention"
)

type attentionCmd struct{ askFlags }

// Run prints what needs attention. For scripts the exit code says whether anything does.
func (c attentionCmd) Run(ctx context.Context, s streams) error {
	var found attention.Attention
	if err := c.send(ctx, "GET", attention.Path, nil, &found); err != nil {
		return err
	}
	if err := c.print(s, found); err != nil {
		return err
	}
	if len(found.Items) > 0 {
		return coded{code: exitLook} // all is said
	}
	return nil
}

func (c attentionCmd) print(s streams, found attention.Attention) error {
	switch {
	case c.JSON:
		return printJSON(s.out, found)
	case len(found.Items) == 0 && isTerminal(s.out):
		_, err := fmt.Fprintln(s.out, "Nothing needs attention.")
		return err
	case len(found.Items) == 0:
		return nil
	}
	rows := make([][]string, len(found.Items))
	for i, item := range found.Items {
		help := "-"
		if item.Help != nil {
			help = item.Help.Text + ": " + item.Help.Link
		}
		rows[i] = []string{item.Kind, item.Severity, stamp(item.Since), item.Cause, help}
	}
	return printRows(s.out, []string{"KIND", "SEVERITY", "SINCE", "CAUSE", "WHAT HELPS"}, rows)
}
