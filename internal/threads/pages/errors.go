package pages

import (
	"context"
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
)

// errorsView is a page of permanent errors.
type errorsView struct {
	Total  int64
	Groups []reasonRow // as far as they are known: all of them, or none
	Rows   []errorRow
	Pager  console.Pager
	CSV    string
}

type errorRow struct {
	threads.ErrorRecord
	Sentence string
}

// groups counts the permanent errors by reason: those of the files were counted when
// they were read, those of the target as it refused them. While a part of the data is
// not processed, the two do not add up, and nothing is said.
func (p *Admin) groups(ctx context.Context) ([]reasonRow, error) {
	m, err := p.Store.Migration(ctx)
	if err != nil || m.Phase == threads.PhaseEmpty {
		return nil, err
	}
	st, err := p.Store.Preview(ctx)
	switch {
	case fault.Is(err, fault.Conflict):
		return nil, nil
	case err != nil:
		return nil, err
	case st.Preview == nil || st.Preview.TotalErrors+m.Refused != m.Permanent:
		return nil, nil
	}
	rows := byReason(st.Preview.Errors)
	if m.Refused > 0 {
		rows = append(rows, reasonRow{
			Reason: threads.TargetNotFound + ", " + threads.TargetForbidden, Count: m.Refused,
			Sentence: "The target has no such issue, or forbids it. Retry these records once that is mended.",
		})
	}
	return rows, nil
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
	if view.Groups, err = p.groups(r.Context()); err != nil {
		return nil, err
	}
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
