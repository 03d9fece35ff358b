package main

import (
	"context"
	"errors"

	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/api"
	"outrigger/internal/rest"
)

type mailCheckCmd struct {
	askFlags
	To   string `help:"Send a test message to this address. Default: nothing is sent." placeholder:"ADDRESS"`
	From string `help:"The sender of the test message. Default: the smarthost's user, if that is an address." placeholder:"ADDRESS"`
}

func (c mailCheckCmd) Run(ctx context.Context, s streams) error {
	var got rest.List[mailqueue.CheckStep]
	if err := c.send(ctx, "POST", api.CheckPath, api.Check{To: c.To, From: c.From}, &got); err != nil {
		return err
	}
	var failed error
	rows := make([][]string, len(got.Items))
	for i, step := range got.Items {
		rows[i] = []string{step.Name, oneLine(step.Answer)}
		if step.Error != "" {
			rows[i][1], failed = "failed: "+oneLine(step.Error), errors.New("the check failed at "+step.Name)
		}
	}
	if c.JSON {
		return errors.Join(printJSON(s.out, got.Items), failed)
	}
	return errors.Join(printRows(s.out, []string{"STEP", "ANSWER"}, rows), failed)
}
