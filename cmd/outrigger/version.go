package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// commit is set by release builds, as version is. Other builds have it from Go,
// which notes it where the source is a Git checkout.
var commit string

// date is when that was committed, as RFC 3339 has it; set by release builds too.
var date string

type versionCmd struct {
	JSON bool `help:"Print JSON."`
}

// versionText is the version with what it was built from, with and for.
func versionText() string {
	built := fmt.Sprintf("%s, %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH)
	if c := builtFrom(); c != "" {
		built = "commit " + c + ", " + built
	}
	return fmt.Sprintf("outrigger %s (%s)", version, built)
}

func (c versionCmd) Run(s streams) error {
	return s.say(c.JSON, struct {
		Version  string `json:"version"`
		Commit   string `json:"commit,omitempty"`
		Go       string `json:"go"`
		Platform string `json:"platform"`
	}{version, builtFrom(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}, "%s", versionText())
}

// builtFrom is the commit of this program, "" where the build did not note it.
func builtFrom() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return commit
	}
	return cmp.Or(commit, noted(info))
}

// noted is the commit in what Go notes of a build (https://pkg.go.dev/runtime/debug#BuildSetting).
func noted(info *debug.BuildInfo) string {
	found := map[string]string{}
	for _, s := range info.Settings {
		found[s.Key] = s.Value
	}
	revision := found["vcs.revision"]
	if revision != "" && found["vcs.modified"] == "true" {
		revision += "-dirty"
	}
	return revision
}
