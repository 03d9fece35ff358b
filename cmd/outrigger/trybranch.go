package main

import (
	"errors"
	"fmt"

	"outrigger/internal/notify"
	"outrigger/internal/notify/api"
	"outrigger/internal/notify/branchmask"
)

type tryBranchCmd struct {
	Dialect  string   `required:"" placeholder:"DIALECT" enum:"java,javascript" help:"${dialect}"`
	JSON     bool     `help:"Print JSON: an array of {branch, match}."`
	Pattern  string   `arg:"" help:"The branch mask. Write -- before it if it begins with a dash."`
	Branches []string `arg:"" name:"branch" help:"Branch names."`
}

func (c tryBranchCmd) Run(s streams) error {
	compile, edition := branchmask.Java, notify.SelfHosted
	if c.Dialect == "javascript" {
		compile, edition = branchmask.JavaScript, notify.Cloud
	}
	mask, err := compile(c.Pattern)
	if err != nil {
		return coded{exitLook, err}
	}
	for _, warning := range notify.MaskWarnings(edition, c.Pattern) {
		if _, err := fmt.Fprintln(s.err, "warning: "+warning); err != nil {
			return err
		}
	}
	results := make([]api.TriedBranch, len(c.Branches))
	var failed []error
	for i, branch := range c.Branches {
		of := mask.Try(branch)
		results[i] = api.TriedBranchOf(of)
		if of.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", branch, of.Err))
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

func (c tryBranchCmd) print(s streams, results []api.TriedBranch) error {
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
