package bitbucket

import (
	"net/http"
	"strconv"
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
	a.answer(http.StatusOK, out)
}

func number(r *http.Request, name string, otherwise int) int {
	n, err := strconv.Atoi(r.URL.Query().Get(name))
	if err != nil || n < 0 {
		return otherwise
	}
	return n
}
