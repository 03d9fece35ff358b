package pages

import (
	"cmp"
	"net/http"
	"slices"

	"outrigger/internal/console"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
)

// errorsView is a page of permanent errors.
type errorsView struct {
	Total  int64
	Groups []groupRow
	Rows   []errorRow
	Pager  console.Pager
	CSV    string
	Left   []threads.UndoLeft // issues that undoing has left
}

type errorRow struct {
	threads.ErrorRecord
	Sentence string
}

// groupRow is how many records are errors for one reason and, where the target
// refused them, with one answer.
type groupRow struct {
	threads.ErrorGroup
	Sentence string
}

func (p *Admin) showErrors(r *http.Request) (console.Response, error) {
	s, err := p.Status(r.Context())
	if err != nil {
		return nil, err
	}
	var after threads.ErrorPlace
	from := r.URL.Query().Get("after")
	if from != "" {
		if after, err = threads.ParseErrorPlace(from); err != nil {
			return nil, err
		}
	}
	list, err := p.Store.Errors(r.Context(), after, pageSize+1)
	if err != nil {
		return nil, err
	}
	view := errorsView{Total: s.Errors.Permanent, CSV: api.MigrationPath + "/errors.csv"}
	if s.Undo != nil {
		view.Left = s.Undo.Left
	}
	view.Groups = groupRows(s.Errors.Groups)
	if from != "" {
		view.Pager.First = movePath + "/errors"
	}
	if len(list) > pageSize {
		list = list[:pageSize]
		view.Pager.Next = console.Path(movePath+"/errors?after=%s", list[pageSize-1].At.String())
	}
	for _, e := range list {
		view.Rows = append(view.Rows, errorRow{e, e.Reason.Sentence()})
	}
	return console.Page{Template: "threads-errors", Title: "Permanent errors", Up: up, Data: view}, nil
}

// groupRows are the groups, the largest first.
func groupRows(groups []threads.ErrorGroup) (rows []groupRow) {
	for _, g := range groups {
		rows = append(rows, groupRow{g, g.Reason.Sentence()})
	}
	slices.SortStableFunc(rows, func(a, b groupRow) int { return cmp.Compare(b.Records, a.Records) })
	return rows
}
