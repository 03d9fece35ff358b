// Package pages is the console's page about the program: its version, and the
// licences of what is inside.
package pages

import (
	"embed"
	"net/http"
	"runtime"
	"slices"

	"outrigger/internal/about"
	"outrigger/internal/console"
	"outrigger/internal/fault"
)

//go:embed *.html
var templates embed.FS

const path = "/system/about"

type pages struct{ version string }

// Register adds the pages to a console. They are for all who are signed in.
func Register(c *console.Console, version string) {
	p := &pages{version}
	c.AddPages(templates)
	c.AddMenu(console.Link{Label: "About Outrigger", Path: path})
	c.Handle("GET "+path, console.SignedIn, p.show, "about")
	c.Handle("GET "+path+"/licence", console.SignedIn, p.licence, "licence")
}

func (p *pages) show(*http.Request) (console.Response, error) {
	modules, err := about.Modules()
	if err != nil {
		return nil, err
	}
	return console.Page{Template: "about", Title: "About Outrigger", Section: "System", Data: struct {
		Version, Go, Platform string
		Modules               []about.Module
	}{p.version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, modules}}, nil
}

// licence shows the licence of a module, or that of Outrigger.
func (p *pages) licence(r *http.Request) (console.Response, error) {
	list, err := about.Licences()
	if err != nil {
		return nil, err
	}
	module := r.URL.Query().Get("module")
	i := slices.IndexFunc(list, func(l about.Licence) bool { return slices.Contains(l.Modules, module) })
	if i < 0 {
		return nil, fault.New(fault.NotFound, "There is no such module in this program.")
	}
	return console.Page{
		Template: "licence", Title: "Licence of " + module, Section: "System",
		Up: []console.Link{{Label: "About Outrigger", Path: path}}, Data: list[i],
	}, nil
}
