package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// notRun are commands in the documentation that a test cannot run as they stand, by
// how they begin, and why.
var notRun = map[string]string{
	"outrigger serve ":              "the test has started it",
	"openssl rand ":                 "the server that runs has its secret",
	"outrigger users second-factor": "the user has none",
	"curl --user ada ":              "needs an account on the cloud platform",
	"curl -i https://tools.example": "needs a proxy in front",
}

// mayRun is how commands begin that stay in the reader's folder. Those of other
// programs change the machine: the tests of the packages run what installs them.
var mayRun = []string{"outrigger ", "curl ", "export ", "files="}

// runs reports whether a command is run.
func (d documented) runs() bool {
	begins := func(beginning string) bool { return strings.HasPrefix(d.text, beginning) }
	return slices.ContainsFunc(mayRun, begins) && d.in(notRun) == "" && !strings.Contains(d.text, "sudo ")
}

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

// documented is a command of a page, with the files that the page has shown so far.
type documented struct{ page, text string }

func (d documented) in(beginnings map[string]string) string {
	for beginning, value := range beginnings {
		if strings.HasPrefix(d.text, beginning) {
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
	"migration-files", "migration", "restarts", "backup", "troubleshooting", "keys", "second-factors", "install", "upgrade", "proxy",
}

// Each page that shows commands is among those that are run. The reference of all
// commands is checked by others.
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
		if page != "commands" && !slices.Contains(runPages, page) && len(shellCommands(page, string(text))) > 0 {
			t.Errorf("%s has commands that are not run", page)
		}
	}
}

// TestDocumentedCommandsRun runs what the documentation shows, page by page, against
// a server that was started as the first page tells.
func TestDocumentedCommandsRun(t *testing.T) {
	w := newReader(t)
	var last []documented
	ran := 0
	for _, page := range runPages {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", page+".md"))
		if err != nil {
			t.Fatal(err)
		}
		w.save(string(text))
		var now []documented
		for _, c := range shellCommands(page, string(text)) {
			switch {
			case !c.runs():
			case c.stopped():
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
			if strings.HasPrefix(c.text, beginning) {
				ran += w.run([]documented{c})
			}
		}
	}
	if ran < 35 {
		t.Errorf("only %d commands were run", ran)
	}
}

func (d documented) stopped() bool {
	for _, beginning := range whenStopped {
		if strings.HasPrefix(d.text, beginning) {
			return true
		}
	}
	return false
}

// shellCommands are the commands of a page, each with all of its lines.
func shellCommands(page, text string) (all []documented) {
	for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
		if block[1] != "sh" {
			continue
		}
		command := ""
		for line := range strings.Lines(block[2]) {
			command += line
			whole := strings.TrimSpace(command)
			if strings.HasSuffix(whole, "\\") || strings.Count(whole, "'")%2 == 1 {
				continue // goes on
			}
			if whole != "" {
				all = append(all, documented{page, whole})
			}
			command = ""
		}
	}
	return all
}
