package api

import (
	"encoding/csv"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/rest"
)

// exportPage is how many entries one transaction reads: about a millisecond.
const exportPage = 500

var columns = []string{
	"id", "at", "who", "source", "address", "requestId", "area", "action", "object", "objectId", "objectName", "connection", "projectKey",
	"repositoryKey", "before", "after",
}

// export streams every entry that fits as CSV, the newest first.
func (a *API) export(w http.ResponseWriter, r *http.Request, in filter) error {
	f := in.entries()
	f.Limit = exportPage
	found, err := a.Entries(r.Context(), f)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("Content-Disposition", `attachment; filename="audit.csv"`)
	if r.Method == http.MethodHead {
		return nil
	}
	out := csv.NewWriter(w)
	_ = out.Write(columns) // Flush returns the error
	for {
		for i := range found {
			_ = out.Write(line(&found[i]))
		}
		if out.Flush(); out.Error() != nil || len(found) < f.Limit {
			return out.Error()
		}
		f.Before = found[len(found)-1].ID
		if found, err = a.Entries(r.Context(), f); err != nil {
			return err // cuts the answer off: a trail that only ends would pass for whole
		}
	}
}

func line(e *audit.Stored) []string {
	cells := []string{
		strconv.FormatInt(e.ID, 10), e.At.Format(time.RFC3339Nano), e.Who, e.Source, e.Address, e.RequestID, e.Area, e.Action, e.Object,
		e.ObjectID, e.ObjectName,
		e.Connection, e.Project, e.Repository, pairs(e.Before), pairs(e.After),
	}
	for i, c := range cells {
		cells[i] = rest.CSVCell(c)
	}
	return cells
}

func pairs(m map[string]string) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(m)) {
		list = append(list, name+"="+m[name])
	}
	return strings.Join(list, "; ")
}

// ExportLink is where the entries that fit a filter are as CSV.
func ExportLink(f audit.Filter) string {
	q := url.Values{}
	for name, value := range map[string]string{"who": f.Who, "area": f.Area, "action": f.Action, "object": f.Object} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339))
	}
	if len(q) == 0 {
		return Path + "/export"
	}
	return Path + "/export?" + q.Encode()
}
