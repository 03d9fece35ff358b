package rest

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"net/http"
	"strconv"
	"strings"

	"outrigger/internal/fault"
)

const (
	defaultLimit = 50
	maxLimit     = 1000
)

// List is one page of a list.
type List[T any] struct {
	Items []T    `json:"items" doc:"The items of this page, in the order of the list."`
	Next  string `json:"next,omitempty" doc:"What after takes for the next page; absent from the last one."`
}

// Page is what the query of a list asks for.
type Page struct {
	Limit int    // 1 to 1,000
	After string // the key of the last item of the page before; "" for the first page

	list string // the path of its route
}

// ErrAfter says that the parameter after is not what a page of this list gave.
func ErrAfter() error {
	return fault.InvalidField("after", "Use the value of next from the previous page of this list.")
}

// readPage reads limit and after from the query.
func readPage(r *http.Request) (Page, error) {
	var (
		p     = Page{Limit: defaultLimit, list: listOf(r)}
		wrong fault.Fields
		query = r.URL.Query()
	)
	if s := query.Get("limit"); s != "" {
		if s[0] == '0' || strings.Trim(s, "0123456789") != "" {
			wrong.Add("limit", "limit must be a whole number of 1 or more, without leading zeros.")
		}
		n, _ := strconv.Atoi(s) // the largest there is where it is larger
		p.Limit = min(n, maxLimit)
	}
	var err error
	if s := query.Get("after"); s != "" {
		p.After, err = p.key(s)
	}
	return p, fault.Every(wrong.Err(), err)
}

// listOf names the list that a request asks for.
func listOf(r *http.Request) string {
	if x := exchangeOf(r.Context()); x != nil && x.route != nil {
		return x.route.Path
	}
	return ""
}

// AfterID is After in a list whose keys are ids: 0 for the first page.
func (p Page) AfterID() (int64, error) {
	if p.After == "" {
		return 0, nil
	}
	id, err := strconv.ParseInt(p.After, 10, 64)
	if err != nil || id < 1 {
		return 0, ErrAfter()
	}
	return id, nil
}

// NewList makes the answer of a page: rows are its items and, where there is a
// next page, one row more; key is what After of the next page is to be. err is what
// reading the rows gave.
func NewList[R, T any](p Page, rows []R, err error, key func(R) string, item func(R) T) (l List[T], _ error) {
	if err != nil {
		return l, err
	}
	if len(rows) > p.Limit {
		rows = rows[:p.Limit]
		l.Next = p.Next(key(rows[p.Limit-1]))
	}
	l.Items = Each(rows, item)
	return l, nil
}

// ListOf is NewList of rows that are the items themselves.
func ListOf[T any](p Page, rows []T, err error, key func(T) string) (List[T], error) {
	return NewList(p, rows, err, key, func(row T) T { return row })
}

// Each lists what item makes of each row; it is never nil.
func Each[R, T any](rows []R, item func(R) T) []T {
	items := make([]T, len(rows))
	for i, row := range rows {
		items[i] = item(row)
	}
	return items
}

// Next is what after takes for the page behind a key. It has a checksum of the list
// and the key, so that a text that is cut off, made up or from another list is
// refused instead of being taken for a place in this one.
func (p Page) Next(key string) string {
	sum := crc32.ChecksumIEEE([]byte(p.list + "\x00" + key))
	return base64.RawURLEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, sum), key...))
}

// key reads what Next wrote.
func (p Page) key(next string) (string, error) {
	text, err := base64.RawURLEncoding.DecodeString(next)
	if err != nil || len(text) < crc32.Size {
		return "", ErrAfter()
	}
	key := string(text[crc32.Size:])
	if p.Next(key) != next { // to the letter: decoding passes over line ends
		return "", ErrAfter()
	}
	return key, nil
}
