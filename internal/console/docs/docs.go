// Package docs serves the documentation below /docs/, in the console's layout, and
// knows which of its pages is about which page of the console.
package docs

import (
	"embed"
	"io/fs"
	"net/http"

	pages "outrigger/docs"
	"outrigger/internal/console"
	"outrigger/internal/fault"
)

const path = "/docs/"

//go:embed templates/*.html
var templates embed.FS

//go:embed assets/*.css
var assets embed.FS

// view is what the template shows.
type view struct {
	Page
	Sections       []Section
	Current        string
	Previous, Next *Entry
}

// Register adds the pages to a console. They have nothing secret in them, and who
// cannot sign in may need them: anyone can read them.
func Register(c *console.Console) {
	c.AddPages(console.Sub(templates, "templates"))
	c.AddAssets(console.Sub(assets, "assets"))
	c.AddMenu(console.Link{Label: "Documentation", Path: path})
	c.Handle("GET "+path, console.Anyone, func(*http.Request) (console.Response, error) { return show("") }, "docs")
	c.Handle("GET "+path+"{page}", console.Anyone, func(r *http.Request) (console.Response, error) {
		return show(r.PathValue("page"))
	}, "docs")
	c.DocumentedAt(about)
}

// show answers a page by its name, which is "" for the index.
func show(name string) (console.Response, error) {
	index, err := Index(pages.Pages)
	if err != nil {
		return nil, err
	}
	v := view{Sections: index.Sections, Current: name}
	file := "README.md"
	if name != "" {
		i := index.find(name)
		if i < 0 {
			return nil, fault.New(fault.NotFound, "The documentation has no page at this address.")
		}
		file = name + ".md"
		v.Previous, v.Next = index.around(i)
	}
	text, err := fs.ReadFile(pages.Pages, file)
	if err != nil {
		return nil, err
	}
	if v.Page, err = Render(text); err != nil {
		return nil, err
	}
	page := console.Page{Template: "docs", Title: v.Title, Data: v}
	if name != "" {
		page.Up = []console.Link{{Label: "Documentation", Path: path}}
	}
	return page, nil
}
