package api

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/format"
)

const (
	defaultLimit = 1000
	// maxLimit is what a larger limit is reduced to: a page is read in some
	// 10 ms, and has 700 KB.
	maxLimit = 10_000
)

// exporting asks for a page. What is wrong with it is said in words that migration
// tools know, so readRange reads it.
type exporting struct {
	Offset int64        `query:"offset" min:"0" default:"0" doc:"How many records come before the page."`
	Limit  int64        `query:"limit" min:"1" default:"1000" doc:"How many records the page has at most; above 10000 counts as 10000."`
	Wrong  fault.Fields `json:"-"`
}

func (a *Source) registerExport(r *rest.Router) {
	rest.Serve[exporting, threads.ExportPage](r, rest.Route{Method: "GET", Path: ExportPath, Access: rest.SysAdmins}, rest.Words{
		ID: "exportHierarchy", Tag: tag, Summary: "Exports the comment hierarchy, a page at a time.",
		Text: "Needs `SYS_ADMIN`. Fetch pages with increasing `offset` until `hasMore` is false; `offset` plus the records of the " +
			"page is the next one. Together they have each record once, while nothing is imported meanwhile. Comments that answer none " +
			"have no record.",
		Answer: "The page, ordered by issue and comment. Past the end it is empty.", Refused: []int{http.StatusServiceUnavailable},
	}, a.export, rest.Example[exporting, threads.ExportPage]{Name: "last", Out: &threads.ExportPage{
		Offset: 1000, Data: []threads.Record{{IssueID: 10001, CommentID: 10502, ParentCommentID: 10501}}, TotalCount: 1001,
	}})
}

// export answers one page of the hierarchy. It is read whole before the first
// byte goes out, as records, not as JSON: a client that reads slowly holds no
// transaction open.
func (a *Source) export(w http.ResponseWriter, r *http.Request, _ exporting) error {
	offset, limit, err := readRange(r.URL.Query())
	if err != nil {
		return err
	}
	if a.Mirror != nil {
		st, err := a.Store.State(r.Context())
		if err == nil {
			err = st.Served()
		}
		if err != nil {
			return err
		}
	}
	page, err := a.Store.Page(r.Context(), offset, limit)
	if err != nil {
		return err
	}
	a.Metrics.Exported(len(page.Data))
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusOK)
	writePage(w, &page)
	return nil
}

// readRange reads offset and limit.
func readRange(q url.Values) (offset int64, limit int, err error) {
	var wrong fault.Fields
	number := func(name string, otherwise int64) int64 {
		if !q.Has(name) {
			return otherwise
		}
		text := q.Get(name)
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case text == "" || strings.Trim(text, "0123456789") != "":
			wrong.Add(name, "Use a whole number of 0 or more.")
		case err != nil:
			wrong.Add(name, "The number is beyond 64 bits.")
		}
		return n
	}
	offset = number("offset", 0)
	long := number("limit", defaultLimit)
	if long == 0 && len(wrong) == 0 {
		wrong.Add("limit", "Use 1 or more.")
	}
	return offset, int(min(long, maxLimit)), wrong.Err()
}

// writeAt is how much of a page is written at once.
const writeAt = 32 << 10

// writePage writes a page as JSON, a part at a time.
func writePage(w http.ResponseWriter, p *threads.ExportPage) {
	b := make([]byte, 0, writeAt+256)
	b = strconv.AppendInt(append(b, `{"offset":`...), p.Offset, 10)
	b = append(b, `,"data":[`...)
	for i, r := range p.Data {
		if i > 0 {
			b = append(b, ',')
		}
		b = format.AppendRecord(b, r)
		if len(b) >= writeAt {
			if _, err := w.Write(b); err != nil {
				return // the client is gone
			}
			b = b[:0]
		}
	}
	b = strconv.AppendBool(append(b, `],"hasMore":`...), p.HasMore)
	b = strconv.AppendInt(append(b, `,"totalCount":`...), p.TotalCount, 10)
	_, _ = w.Write(append(b, '}'))
}
