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
	"strings"
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

// templates are the pages by name, each a copy of the shell's layout and
// parts with its own "content".
type templates struct {
	base   *template.Template
	byName map[string]*template.Template
}

// shell parses the layout and the parts that every page has.
func (t *templates) shell(files fs.FS, funcs template.FuncMap) error {
	t.base, t.byName = template.New("shell").Funcs(funcs), map[string]*template.Template{}
	sources, err := readTemplates(files)
	if err != nil {
		return err
	}
	for _, s := range sources {
		if _, err := t.base.New(s.file).Parse(s.text); err != nil {
			return fmt.Errorf("console: %w", err)
		}
	}
	return nil
}

// add parses one wing's pages and parts.
func (t *templates) add(files fs.FS, funcs template.FuncMap) error {
	sources, err := readTemplates(files)
	if err != nil {
		return err
	}
	base, err := t.base.Clone()
	if err != nil {
		return fmt.Errorf("console: %w", err)
	}
	var pages []source
	for _, s := range sources {
		parsed, err := template.New(s.file).Funcs(funcs).Parse(s.text)
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		if parsed.Lookup("content") != nil {
			pages = append(pages, s)
		} else if _, err := base.New(s.file).Parse(s.text); err != nil {
			return fmt.Errorf("console: %w", err)
		}
	}
	for _, s := range pages {
		name := strings.TrimSuffix(s.file, ".html")
		if t.byName[name] != nil {
			return fmt.Errorf("console: two pages are named %s", name)
		}
		page, err := base.Clone()
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		if t.byName[name], err = page.New(s.file).Parse(s.text); err != nil {
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

// check tells whether every template that a page calls is there: html/template
// itself says so only when somebody asks for the page.
func (t *templates) check() error {
	var missing []error
	for name, page := range t.byName {
		for _, part := range page.Templates() {
			if part.Tree == nil {
				continue
			}
			for _, called := range calls(part.Tree.Root) {
				if page.Lookup(called) == nil {
					missing = append(missing, fmt.Errorf("console: page %q: %s calls the template %q, which is not there", name, part.Name(), called))
				}
			}
		}
	}
	return errors.Join(missing...)
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
