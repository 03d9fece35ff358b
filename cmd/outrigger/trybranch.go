package main

import (
	"errors"
	"fmt"

	"outrigger/internal/notify/branchmask"
)

type notifyCmd struct {
	TryBranch tryBranchCmd `cmd:"" help:"Say which branch names a branch mask matches. Needs no server."`
	SendEvent sendEventCmd `cmd:"" help:"Post a webhook body, signed, as the platform would."`
	Preview   previewCmd   `cmd:"" help:"Print the card of an event type, of an event that never was. Needs no server."`

	Events       eventsCmd       `cmd:"" help:"List what came in, the newest first, also what no rule took."`
	Explain      explainCmd      `cmd:"" help:"Say which rules took an event, and why the others did not."`
	Deliveries   deliveriesCmd   `cmd:"" help:"List what went where, the newest first."`
	Redeliver    redeliverCmd    `cmd:"" help:"Put deliveries that ended back into the queue of their channel."`
	RetryChannel retryChannelCmd `cmd:"" help:"Try a channel again at once, whatever closed it."`
}

type tryBranchCmd struct {
	Dialect  string   `required:"" enum:"java,javascript" help:"Whose regular expressions: java (self-hosted rules, the whole name must match) or javascript (cloud rules, found anywhere in the name)."`
	JSON     bool     `help:"For scripts: an array of {branch, match}."`
	Pattern  string   `arg:"" help:"The branch mask; write -- before it, so that it may begin with a dash."`
	Branches []string `arg:"" name:"branch" help:"Branch names."`
}

// tried is what became of one branch name.
type tried struct {
	Branch string `json:"branch"`
	Match  bool   `json:"match"`
	Error  string `json:"error,omitempty"`
}

func (c tryBranchCmd) Run(s streams) error {
	compile := branchmask.Java
	if c.Dialect == "javascript" {
		compile = branchmask.JavaScript
	}
	mask, err := compile(c.Pattern)
	if err != nil {
		return coded{exitLook, err}
	}
	results := make([]tried, len(c.Branches))
	var failed []error
	for i, of := range mask.Try(c.Branches) {
		results[i] = tried{Branch: of.Branch, Match: of.Match}
		if of.Err != nil {
			results[i].Error = of.Err.Error()
			failed = append(failed, fmt.Errorf("%s: %w", of.Branch, of.Err))
		}
	}
	if err := c.print(s, results); err != nil {
		return err
	}
	if len(failed) > 0 {
		return coded{exitLook, errors.Join(failed...)}
	}
	return nil
}

func (c tryBranchCmd) print(s streams, results []tried) error {
	if c.JSON {
		return printJSON(s.out, results)
	}
	for _, r := range results {
		if r.Error != "" {
			continue // said on standard error
		}
		word := "no match"
		if r.Match {
			word = "match"
		}
		if _, err := fmt.Fprintf(s.out, "%s\t%s\n", r.Branch, word); err != nil {
			return err
		}
	}
	return nil
}
