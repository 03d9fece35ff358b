package console

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed templates
var shellTemplates embed.FS

//go:embed pages
var shellPages embed.FS

// templates are the shell's layout and parts, and the pages by name: each gives
// a copy of them with the parts of its wing and its own "content". A page is parsed
// when it is first requested: all of them would be most of the work of a start, most
// of what an idle process holds, and of what every garbage collection reads.
type templates struct {
	base  *template.Template
	wings []fs.FS
	pages map[string]func() (*template.Template, error)
}

// shell parses the layout and the parts that every page has.
func (t *templates) shell(files fs.FS, funcs template.FuncMap) error {
	t.base, t.wings, t.pages = template.New("shell").Funcs(funcs), []fs.FS{files}, map[string]func() (*template.Template, error){}
	names, err := list(files)
	if err != nil {
		return err
	}
	return parseInto(t.base, files, names)
}

// add takes one wing's pages and parts.
func (t *templates) add(files fs.FS) error {
	names, err := list(files)
	if err != nil {
		return err
	}
	t.wings = append(t.wings, files)
	var parts, pages []string
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
		if bytes.Contains(text, []byte(`{{define "content"}}`)) {
			pages = append(pages, name)
		} else {
			parts = append(parts, name)
		}
	}
	for _, file := range pages {
		name := strings.TrimSuffix(file, ".html")
		if t.pages[name] != nil {
			return fmt.Errorf("console: two pages are named %s", name)
		}
		t.pages[name] = sync.OnceValues(func() (*template.Template, error) {
			set, err := t.base.Clone()
			if err != nil {
				return nil, fmt.Errorf("console: %w", err)
			}
			return set, parseInto(set, files, append(slices.Clip(parts), file))
		})
	}
	return nil
}

// indentation is for those who read the templates. Pages are sent without it.
var indentation = regexp.MustCompile(`(?m)^[ \t]+`)

// parseInto adds the templates of some files to a set.
func parseInto(set *template.Template, files fs.FS, names []string) error {
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err == nil {
			_, err = set.New(name).Parse(indentation.ReplaceAllString(string(text), ""))
		}
		if err != nil {
			return fmt.Errorf("console: %w", err)
		}
	}
	return nil
}

// list returns the names of the template files.
func list(files fs.FS) (names []string, err error) {
	err = fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && path.Ext(name) == ".html" {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("console: templates: %w", err)
	}
	return names, nil
}
