package docs

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Contents are all pages in their order.
type Contents struct{ Sections []Section }

// Section is a part of the contents.
type Section struct {
	Title   string
	Entries []Entry
}

// Entry is a page in the contents. Its name is that of the file without .md.
type Entry struct{ Name, Title string }

// Index reads the contents from README.md: the links below each of its headings.
func Index(files fs.FS) (Contents, error) {
	source, err := fs.ReadFile(files, "README.md")
	if err != nil {
		return Contents{}, fmt.Errorf("docs: %w", err)
	}
	var c Contents
	doc := markdown().Parser().Parse(text.NewReader(source))
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			if n.Level == 2 {
				c.Sections = append(c.Sections, Section{Title: plain(n, source)})
			}
		case *ast.List:
			if len(c.Sections) == 0 {
				continue
			}
			s := &c.Sections[len(c.Sections)-1]
			for _, link := range nodes[*ast.Link](n) {
				s.Entries = append(s.Entries, Entry{strings.TrimSuffix(string(link.Destination), ".md"), plain(link, source)})
			}
		}
	}
	return c, nil
}

// entries are those of all sections.
func (c Contents) entries() (all []Entry) {
	for _, s := range c.Sections {
		all = append(all, s.Entries...)
	}
	return all
}

// find returns the place of a page; -1 where there is none of that name.
func (c Contents) find(name string) int {
	return slices.IndexFunc(c.entries(), func(e Entry) bool { return e.Name == name })
}

// around returns the pages before and behind a place; nil where there is none.
func (c Contents) around(i int) (previous, next *Entry) {
	all := c.entries()
	if i > 0 {
		previous = &all[i-1]
	}
	if i+1 < len(all) {
		next = &all[i+1]
	}
	return previous, next
}
