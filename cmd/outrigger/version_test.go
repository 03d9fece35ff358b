package main

import (
	"runtime/debug"
	"strings"
	"testing"
)

// The version names the commit that the program was built from, and whether the
// source was changed; a release's own word comes first.
func TestVersionNamesTheCommit(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for want, settings := range map[string][]debug.BuildSetting{
		"":             {setting("-trimpath", "true")},
		"0a1b2c":       {setting("vcs", "git"), setting("vcs.revision", "0a1b2c"), setting("vcs.modified", "false")},
		"d4e5f6-dirty": {setting("vcs.revision", "d4e5f6"), setting("vcs.modified", "true")},
	} {
		if got := noted(&debug.BuildInfo{Settings: settings}); got != want {
			t.Errorf("%v: %q, want %q", settings, got, want)
		}
	}
	defer func(was string) { commit = was }(commit)
	commit = "abc123"
	if text := versionText(); !strings.HasPrefix(text, "outrigger dev (commit abc123, go") {
		t.Error(text)
	}
}
