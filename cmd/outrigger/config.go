package main

import (
	"fmt"

	"outrigger/internal/config"
)

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Check a configuration file, together with the environment, and list every error and warning."`
	Print configPrintCmd `cmd:"" help:"Print every setting with its description, default and environment variable, as a configuration file."`
}

type configCheckCmd struct {
	File string `arg:"" help:"The YAML file."`
}

func (c configCheckCmd) Run(s streams) error {
	_, err := loadConfig(s, c.File, nil)
	if err == nil {
		_, err = fmt.Fprintln(s.out, c.File+" is valid.")
	}
	return err
}

type configPrintCmd struct {
	JSON bool `help:"Print JSON."`
}

func (c configPrintCmd) Run(s streams) error {
	if c.JSON {
		return config.PrintJSON(s.out)
	}
	return config.Print(s.out)
}
