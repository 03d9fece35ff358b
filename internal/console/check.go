package console

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"text/template/parse"
)

// inline finds what the content security policy would silently not run, and
// addresses that would miss the path of base_url.
var inline = regexp.MustCompile(`(?i)<style\b|\sstyle\s*=|\son[a-z]+\s*=|javascript:` +
	`|<script\b[^>]*>\s*[^\s<]|<script(?:\s+type\s*=\s*"?module"?)?\s*>` +
	`|<(?:script|link|img)\b[^>]*(?:src|href)\s*=\s*["']?(?:https?:|//)` +
	`|\s(?:href|src|action|data-live)\s*=\s*["']?/`)

// Check parses every page, and finds what is wrong with the templates: calls of one
// that is not there, and what a browser would not run. It is for tests: what is
// embedded does not change, so a start need not look at it again.
func (c *Console) Check() error {
	problems := slices.Clone(c.problems)
	for _, files := range c.pages.wings {
		problems = append(problems, inlined(files))
	}
	for _, name := range slices.Sorted(maps.Keys(c.pages.pages)) {
		set, err := c.pages.pages[name]()
		if err == nil {
			err = missing(name, set)
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// inlined says which files have what belongs elsewhere.
func inlined(files fs.FS) error {
	names, err := list(files)
	problems := []error{err}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if found := inline.Find(text); found != nil {
			err = fmt.Errorf("console: %s has %q: styles and scripts belong in an asset, addresses go through link", name, bytes.TrimSpace(found))
		}
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// missing says which templates a page calls that are not there, which html/template
// itself reports only when one is executed.
func missing(page string, set *template.Template) error {
	var problems []error
	for _, part := range set.Templates() {
		if part.Tree == nil {
			continue
		}
		for _, called := range calls(part.Tree.Root) {
			if set.Lookup(called) == nil {
				problems = append(problems, fmt.Errorf("console: page %q: %s calls the template %q, which is not there", page, part.Name(), called))
			}
		}
	}
	return errors.Join(problems...)
}

// calls lists the templates that a node calls.
func calls(node parse.Node) []string {
	switch n := node.(type) {
	case *parse.ListNode:
		var names []string
		if n != nil {
			for _, child := range n.Nodes {
				names = append(names, calls(child)...)
			}
		}
		return names
	case *parse.TemplateNode:
		return []string{n.Name}
	case *parse.IfNode:
		return append(calls(n.List), calls(n.ElseList)...)
	case *parse.RangeNode:
		return append(calls(n.List), calls(n.ElseList)...)
	case *parse.WithNode:
		return append(calls(n.List), calls(n.ElseList)...)
	}
	return nil
}
