package main

import (
	"fmt"
	"io"

	"outrigger/internal/about"
)

type licensesCmd struct {
	JSON bool `help:"Print JSON: each module with its version and the name of its licence, without the texts."`
}

func (c licensesCmd) Run(s streams) error {
	modules, err := about.Modules()
	if err != nil {
		return err
	}
	if c.JSON {
		type module struct {
			Path    string `json:"path"`
			Version string `json:"version,omitempty"`
			Licence string `json:"licence"`
		}
		list := make([]module, len(modules))
		for i, m := range modules {
			list[i] = module(m)
		}
		return printJSON(s.out, list)
	}
	licences, err := about.Licences()
	if err != nil {
		return err
	}
	return printLicences(s.out, licences, modules)
}

// printLicences writes every licence below the modules that are published under it.
func printLicences(w io.Writer, licences []about.Licence, modules []about.Module) error {
	versions := map[string]string{}
	for _, m := range modules {
		versions[m.Path] = m.Version
	}
	text := "Outrigger is published under the Apache License 2.0. It contains the modules below, each under the licence that follows it.\n"
	for _, l := range licences {
		text += "\n" + ruler + "\n\n"
		for _, path := range l.Modules {
			text += fmt.Sprintf("%s %s\n", path, versions[path])
		}
		text += fmt.Sprintf("\n%s\n\n%s\n", l.Name, l.Text)
	}
	_, err := io.WriteString(w, text)
	return err
}

const ruler = "--------------------------------------------------------------------------------"
