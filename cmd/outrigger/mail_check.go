package main

import (
	"context"
	"errors"
)

type mailCheckCmd struct {
	askFlags
	To   string `help:"Send a test message to this address. Default: nothing is sent." placeholder:"ADDRESS"`
	From string `help:"The sender of the test message. Default: the smarthost's user, if that is an address." placeholder:"ADDRESS"`
}

// checkStep is a step as the server lists it.
type checkStep struct {
	Name   string `json:"name"`
	Answer string `json:"answer,omitempty"`
	Error  string `json:"error,omitempty"`
}

func (c mailCheckCmd) Run(ctx context.Context, s streams) error {
	server, err := c.client()
	if err != nil {
		return err
	}
	var got struct {
		Items []checkStep `json:"items"`
	}
	if err := server.do(ctx, "POST", mailPath+"/check", map[string]string{"to": c.To, "from": c.From}, &got); err != nil {
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
		err = printJSON(s.out, got.Items)
	} else {
		err = printRows(s.out, []string{"STEP", "ANSWER"}, rows)
	}
	return errors.Join(err, failed)
}
