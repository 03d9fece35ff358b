package main

import (
	"fmt"
	"runtime"
)

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

// versionText is the version with what it was built with and for.
func versionText() string {
	return fmt.Sprintf("outrigger %s (%s, %s/%s)", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func (c versionCmd) Run(s streams) error {
	if c.JSON {
		return printJSON(s.out, struct {
			Version  string `json:"version"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
	}
	_, err := fmt.Fprintln(s.out, versionText())
	return err
}
