package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"outrigger/internal/documented"
)

// whenStopped are commands that need the database of a stopped server; they are run
// last, in this order.
var whenStopped = []string{"outrigger restore ", "outrigger secrets rotate ", "outrigger users password "}

// madeBefore is what a page tells in words before a command: by how the command
// begins, what a reader has done by then.
var madeBefore = map[string]string{
	"outrigger notify send-event --config outrigger.yaml --server ": `sed 's/.*"secret":"\([^"]*\)".*/\1/' printed > shop-secret`,
	"outrigger threads export ":                                     "outrigger threads import comments_hierarchy_export.json $as; outrigger threads mappings import id-mappings.csv --cloud-site-url https://site.example.net $as",
	"curl --oauth2-bearer ":                                         `outrigger tokens create ci --scope builds $as > builds-token; COMMIT=f259e9032cdeb1e28d073e8a79a1fd6f9587f233`,
	"outrigger tokens create jira --for ":                           `outrigger users add jira $as`,
}

// mayEnd are the exit codes, beside 0, that a page tells of.
var mayEnd = map[string]string{"outrigger attention ": "2"}

// in returns the value of the beginning that a command has.
func in(beginnings map[string]string, c documented.Command) string {
	for beginning, value := range beginnings {
		if c.Begins(beginning) {
			return value
		}
	}
	return ""
}

// shownFile is a file that a page tells its reader to save, and where it is named.
var shownFile = regexp.MustCompile("(?s)`([\\w./-]+\\.(?:ya?ml|json|csv))`[^`]*?:?\\s*\n\n```(?:yaml|json|csv)\n(.*?)\n```")

// runPages are the pages with commands, in an order in which a reader could have
// read them.
var runPages = []string{
	"ten-minutes", "users", "audit", "rules", "reports", "bitbucket-data-center", "builds", "cloud-rules", "mail", "monitoring",
	"migration-files", "migration", "restarts", "backup", "troubleshooting", "keys",
}

// Each page that shows commands for a server is among those that are run. The reference
// of all commands is checked by others.
func TestEveryPageWithCommandsIsRun(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page := strings.TrimSuffix(filepath.Base(file), ".md")
		if page != "commands" && !slices.Contains(runPages, page) && slices.ContainsFunc(documented.Commands(page, string(text)), onTheServer) {
			t.Errorf("%s has commands that are not run", page)
		}
	}
}

// TestDocumentedCommandsRun runs what the documentation shows, page by page, against
// a server that was started as the first page tells.
func TestDocumentedCommandsRun(t *testing.T) {
	w := newReader(t)
	var last []documented.Command
	ran := 0
	for _, page := range runPages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		w.save(string(text))
		var now []documented.Command
		for _, c := range documented.Commands(page, string(text)) {
			switch {
			case !onTheServer(c):
			case stopped(c):
				last = append(last, c)
			default:
				now = append(now, c)
			}
		}
		ran += w.run(now)
	}
	w.stop()
	for _, beginning := range whenStopped {
		for _, c := range last {
			if c.Begins(beginning) {
				ran += w.run([]documented.Command{c})
			}
		}
	}
	if ran < 35 {
		t.Errorf("only %d commands were run", ran)
	}
}

// The README's few stand alone: they write a configuration of their own.
func TestCommandsOfTheReadmeRun(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	w := &reader{t: t, dir: t.TempDir()}
	w.write("admin-password", "")
	if ran := w.run(slices.DeleteFunc(documented.Commands("README", string(text)), func(c documented.Command) bool { return !onTheServer(c) })); ran != 2 {
		t.Errorf("%d commands were run", ran)
	}
}

func stopped(c documented.Command) bool { return slices.ContainsFunc(whenStopped, c.Begins) }

func onTheServer(c documented.Command) bool {
	place, _ := c.Place()
	return place == documented.Server
}
