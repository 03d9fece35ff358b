package main

import (
	"fmt"

	"outrigger/internal/config"
)

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Read a configuration file as serve would, environment included, and say everything that is wrong."`
	Print configPrintCmd `cmd:"" help:"Print every setting with its sentence, its default and its environment variable, as a configuration file."`
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
	JSON bool `help:"For scripts."`
}

func (c configPrintCmd) Run(s streams) error {
	if c.JSON {
		return config.PrintJSON(s.out)
	}
	return config.Print(s.out)
}
