package rest

import (
	"encoding/base64"
	"net/http"
	"strconv"

	"outrigger/internal/fault"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// afterNext says what the parameter after takes.
const afterNext = "Use the value of next from the previous page."

// List is one page of a list.
type List[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"` // what after takes for the next page; "" after the last
}

// Page is what the query of a list asks for.
type Page struct {
	Limit int    // 1 to 1,000
	After string // the key of the last item of the page before; "" for the first page
}

// ReadPage reads limit and after from the query.
func ReadPage(r *http.Request) (Page, error) {
	var (
		p     = Page{Limit: defaultLimit}
		wrong fault.Fields
		query = r.URL.Query()
	)
	if s := query.Get("limit"); s != "" {
		n, err := strconv.ParseUint(s, 10, 63)
		if err != nil || n == 0 {
			wrong.Add("limit", "limit must be a whole number of 1 or more.")
		}
		p.Limit = int(min(n, maxLimit))
	}
	after, err := base64.RawURLEncoding.DecodeString(query.Get("after"))
	if err != nil {
		wrong.Add("after", afterNext)
	}
	p.After = string(after)
	return p, wrong.Err()
}

// AfterID is After in a list whose keys are ids: 0 for the first page.
func (p Page) AfterID() (int64, error) {
	if p.After == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil || id < 1 {
		return 0, fault.InvalidField("after", afterNext)
	}
	return id, nil
}

// NewList makes the answer of a page: rows are its items and, where there is a
// next page, one row more; key is what After of the next page is to be.
func NewList[R, T any](p Page, rows []R, key func(R) string, item func(R) T) List[T] {
	var l List[T]
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		l.Next = Next(key(rows[p.Limit-1]))
	}
	l.Items = make([]T, len(rows))
	for i, row := range rows {
		l.Items[i] = item(row)
	}
	return l
}

// Next is what after takes for the page behind a key.
func Next(key string) string { return base64.RawURLEncoding.EncodeToString([]byte(key)) }
