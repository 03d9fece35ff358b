package report

import (
	_ "embed"
	"encoding/csv"
	"html/template"
	"io"
	"strconv"

	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/admin"
)

//go:embed report.html
var pageText string

var page = template.Must(template.New("report").Funcs(template.FuncMap{
	"count": func(n *int64) string { return threads.Thousands(*n) },
}).Parse(pageText))

// HTML writes the report as a page that needs nothing beside itself.
func HTML(w io.Writer, r *admin.Report) error {
	return page.Execute(w, struct {
		Status   threads.Status
		Final    bool
		Sections []section
	}{r.Status.Status, r.Final, sections(r)})
}

// CSV writes the report as lines of section, item, count and text.
func CSV(w io.Writer, r *admin.Report) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"section", "item", "count", "text"}) // Flush keeps what went wrong
	for _, s := range sections(r) {
		if len(s.Lines) == 0 {
			s.say("", s.Empty)
		}
		for _, l := range s.Lines {
			count := ""
			if l.Count != nil {
				count = strconv.FormatInt(*l.Count, 10)
			}
			_ = out.Write([]string{s.Name, rest.CSVCell(l.Item), count, rest.CSVCell(l.Text)})
		}
	}
	out.Flush()
	return out.Error()
}
