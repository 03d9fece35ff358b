package console

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"text/template/parse"
)

//go:embed templates
var shellTemplates embed.FS

//go:embed pages
var shellPages embed.FS

// inline finds what the content security policy would silently not run, and
// addresses that would miss the path of base_url.
var inline = regexp.MustCompile(`(?i)<style\b|\sstyle\s*=|\son[a-z]+\s*=|javascript:` +
	`|<script\b[^>]*>\s*[^\s<]|<script(?:\s+type\s*=\s*"?module"?)?\s*>` +
	`|<(?:script|link|img)\b[^>]*(?:src|href)\s*=\s*["']?(?:https?:|//)` +
	`|\s(?:href|src|action|data-live)\s*=\s*["']?/`)

// templates are the shell's layout and parts, and the pages by name: each gives
// a copy of them with the parts of its wing and its own "content". The copy is
// made when the page is first requested: those of all pages would be most
// of what an idle process holds, and of what every garbage collection reads.
type templates struct {
	base  *template.Template
	pages map[string]func() (*template.Template, error)
}

// shell parses the layout and the parts that every page has.
func (t *templates) shell(files fs.FS, funcs template.FuncMap) error {
	t.base, t.pages = template.New("shell").Funcs(funcs), map[string]func() (*template.Template, error){}
	sources, err := readTemplates(files)
	if err != nil {
		return err
	}
	return parseInto(t.base, sources)
}

// add takes one wing's pages and parts, when they parse and every template that
// they call is there: html/template itself reports it only when the page
// is requested.
func (t *templates) add(files fs.FS, funcs template.FuncMap) error {
	sources, err := readTemplates(files)
	if err != nil {
		return err
	}
	var parts, pages []source
	parsed := map[string]*template.Template{}
	for _, s := range sources {
		set := template.New("").Funcs(funcs)
		if err := parseInto(set, []source{s}); err != nil {
			return err
		}
		parsed[s.file] = set
		if set.Lookup("content") != nil {
			pages = append(pages, s)
		} else {
			parts = append(parts, s)
		}
	}
	var problems []error
	for _, s := range pages {
		name := strings.TrimSuffix(s.file, ".html")
		if t.pages[name] != nil {
			return fmt.Errorf("console: two pages are named %s", name)
		}
		sets := []*template.Template{t.base, parsed[s.file]}
		for _, part := range parts {
			sets = append(sets, parsed[part.file])
		}
		problems = append(problems, missing(name, sets))
		t.pages[name] = sync.OnceValues(func() (*template.Template, error) { return t.page(s, parts) })
	}
	return errors.Join(problems...)
}

func (t *templates) page(own source, parts []source) (*template.Template, error) {
	set, err := t.base.Clone()
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return set, parseInto(set, append(slices.Clip(parts), own))
}

// parseInto adds the templates of the sources to a set.
func parseInto(set *template.Template, sources []source) error {
	for _, s := range sources {
		if _, err := set.New(s.file).Parse(s.text); err != nil {
			return fmt.Errorf("console: %w", err)
		}
	}
	return nil
}

type source struct{ file, text string }

func readTemplates(files fs.FS) ([]source, error) {
	var sources []source
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path.Ext(name) != ".html" {
			return err
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if found := inline.Find(text); found != nil {
			return fmt.Errorf("%s has %q: styles and scripts belong in an asset, addresses go through link", name, bytes.TrimSpace(found))
		}
		sources = append(sources, source{name, string(text)})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("console: templates: %w", err)
	}
	return sources, nil
}

// missing says which templates a page of these sets calls that none of them has.
func missing(page string, sets []*template.Template) error {
	has := func(name string) bool {
		return slices.ContainsFunc(sets, func(set *template.Template) bool { return set.Lookup(name) != nil })
	}
	var problems []error
	for _, set := range sets {
		for _, part := range set.Templates() {
			if part.Tree == nil {
				continue
			}
			for _, called := range calls(part.Tree.Root) {
				if !has(called) {
					problems = append(problems, fmt.Errorf("console: page %q: %s calls the template %q, which is not there", page, part.Name(), called))
				}
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
