package docs

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Page is a page of the documentation as HTML.
type Page struct {
	Title string // its first heading, which is not in Body
	Body  template.HTML
}

// markdown reads what the pages are written in: CommonMark and tables. Headings have
// ids. HTML in a page is left out.
func markdown() goldmark.Markdown {
	return goldmark.New(goldmark.WithExtensions(extension.Table), goldmark.WithParserOptions(parser.WithAutoHeadingID()))
}

// Render makes HTML of a page. Links to other pages, written as file names, become
// those of the server; headings link to themselves.
func Render(source []byte) (Page, error) {
	md := markdown()
	doc := md.Parser().Parse(text.NewReader(source))
	title, ok := doc.FirstChild().(*ast.Heading)
	if !ok || title.Level != 1 {
		return Page{}, fmt.Errorf("docs: the page %.40q does not begin with its title", source)
	}
	page := Page{Title: plain(title, source)}
	doc.RemoveChild(doc, title)
	for _, link := range nodes[*ast.Link](doc) {
		link.Destination = []byte(served(string(link.Destination)))
	}
	for _, heading := range nodes[*ast.Heading](doc) {
		linkToItself(heading)
	}
	var html bytes.Buffer
	if err := md.Renderer().Render(&html, source, doc); err != nil {
		return Page{}, fmt.Errorf("docs: render the page %q: %w", page.Title, err)
	}
	page.Body = template.HTML(scrollable(html.String())) //nolint:gosec // rendered from our own pages
	return page, nil
}

// scrollable has the keyboard reach each example, which may be wider than the page.
func scrollable(html string) string {
	parts := strings.Split(html, "<pre>")
	for i := range parts[1:] {
		parts[i] += fmt.Sprintf(`<pre tabindex="0" role="group" aria-label="Example %d">`, i+1)
	}
	return strings.Join(parts, "")
}

// nodes lists the nodes of one type.
func nodes[N ast.Node](doc ast.Node) (list []N) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if found, ok := n.(N); ok && entering {
			list = append(list, found)
		}
		return ast.WalkContinue, nil
	})
	return list
}

// plain is the text of a node without its marks.
func plain(n ast.Node, source []byte) string {
	var b strings.Builder
	for _, part := range nodes[*ast.Text](n) {
		b.Write(part.Value(source))
	}
	return b.String()
}

// served is where a link leads on a server: a page is there without .md.
func served(link string) string {
	if strings.Contains(link, ":") {
		return link // another server
	}
	file, anchor, _ := strings.Cut(link, "#")
	switch name, ok := strings.CutSuffix(file, ".md"); {
	case !ok:
		return link
	case name == "README":
		file = "./"
	default:
		file = name
	}
	if anchor != "" {
		file += "#" + anchor
	}
	return file
}

// linkToItself makes the text of a heading a link to it, to be copied.
func linkToItself(h *ast.Heading) {
	id, ok := h.AttributeString("id")
	if !ok {
		return
	}
	link := ast.NewLink()
	link.Destination = append([]byte("#"), id.([]byte)...)
	for child := h.FirstChild(); child != nil; child = h.FirstChild() {
		link.AppendChild(link, child)
	}
	h.AppendChild(h, link)
}
