package pages

import (
	"context"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// previewView is what two files say, in full.
type previewView struct {
	*stageView
	Loaded   bool // they are the migration's data already
	Counts   []countRow
	Errors   []reasonRow
	Missing  []missingRow
	Readings []readingRow
}

type countRow struct {
	Label string
	Count int64
	Hint  string
}

type reasonRow struct {
	Reason   threads.Reason
	Sentence string
	Count    int64
}

type missingRow struct {
	Label string
	threads.Missing
}

type readingRow struct {
	Label string
	threads.Reading
}

func (p *Admin) showPreview(r *http.Request) (console.Response, error) {
	view, err := p.preview(r.Context())
	if fault.Is(err, fault.Conflict) {
		return console.Redirect{To: movePath, Flash: fault.As(err).Message, Tone: console.Warn}, nil
	}
	return console.Page{Template: "threads-preview", Title: "Preview", Up: up, Data: view}, err
}

func (p *Admin) preview(ctx context.Context) (*previewView, error) {
	st, err := p.Store.Preview(ctx)
	if err != nil {
		return nil, err
	}
	m, err := p.Store.Migration(ctx)
	if err != nil {
		return nil, err
	}
	view := &previewView{stageView: p.staged(st), Loaded: m.Stage == st.ID}
	pr := st.Preview
	if pr == nil {
		return view, nil
	}
	view.Counts = []countRow{
		{"Records", pr.Records, "replies; each comment is counted once"},
		{"Issues", pr.Issues, "that have replies"},
		{"Comments", pr.Comments, "replies and their parents"},
		{"Comment mappings", pr.CommentMappings, "found in the CSV"},
		{"Issue mappings", pr.IssueMappings, "found in the CSV"},
		{"Comments without a mapping", pr.MissingComments.Count, "named by records"},
		{"Issues without a mapping", pr.MissingIssues.Count, "named by records"},
		{"Repeated records", pr.DuplicateRecords, "for the same comment; the last one wins"},
		{"Repeated mappings", pr.DuplicateMappings, "for the same id; the last one wins"},
		{"Comments that are their own parent", pr.SelfParents, ""},
		{"Records in a cycle", pr.Cycles, "their parents lead back to them"},
		{"Parents in another issue", pr.OtherIssue, ""},
		{"Entries without a parent", pr.Hierarchy.Roots, "comments that start a thread; they need no record"},
	}
	view.Errors = byReason(pr.Errors)
	view.Missing = []missingRow{{"Comments without a mapping", pr.MissingComments}, {"Issues without a mapping", pr.MissingIssues}}
	view.Readings = []readingRow{{"Hierarchy", pr.Hierarchy.Reading}, {"Id mappings", pr.Mappings.Reading}}
	return view, nil
}

// byReason are the reasons that there are, with how many records have each.
func byReason(counts map[threads.Reason]int64) (rows []reasonRow) {
	for _, reason := range threads.Reasons() {
		if n := counts[reason]; n > 0 {
			rows = append(rows, reasonRow{reason, reason.Sentence(), n})
		}
	}
	return rows
}
