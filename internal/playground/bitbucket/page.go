package bitbucket

import (
	"net/http"
	"strconv"

	"outrigger/internal/playground/faults"
)

// page answers one page of values: 25 unless limit says otherwise, and never
// more than the platform's own most. The next begins at nextPageStart.
func page(p *Platform, a *asking, values []any) {
	if values == nil {
		values = []any{} // which JSON does not write as null
	}
	start := number(a.r, "start", 0)
	limit := min(number(a.r, "limit", 25), p.o.MaxPage)
	from := min(start, len(values))
	to := min(from+limit, len(values))
	out := map[string]any{"size": to - from, "limit": limit, "start": start, "isLastPage": to == len(values), "values": values[from:to]}
	if to < len(values) {
		out["nextPageStart"] = to
	}
	switch a.fault.Kind {
	case Endless: // a further page with nothing new, for ever
		out["isLastPage"], out["nextPageStart"], out["values"] = false, start+limit, values[from:to]
	case Inventing:
		out["isLastPage"], out["nextPageStart"], out["size"] = false, start+1, 1
		out["values"] = []any{map[string]any{"name": "user " + strconv.Itoa(start), "key": "P" + strconv.Itoa(start), "id": start + 1}}
	case Overlapping:
		out["values"] = values[max(from-1, 0):to]
	case Nulling:
		out["values"] = faults.Nulled(values[from:to])
	case Repeating: // the first page again and again
		first := values[:min(limit, len(values))]
		out["isLastPage"], out["nextPageStart"], out["size"], out["values"] = false, start+limit, len(first), first
	case Standing: // the next page is this one
		out["isLastPage"], out["nextPageStart"] = false, start
	case Ragged: // there is more, and it does not say where
		out["isLastPage"] = false
		delete(out, "nextPageStart")
	}
	a.answer(http.StatusOK, out)
}

func number(r *http.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}
