package rest

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"outrigger/internal/fault"
)

func TestReadPage(t *testing.T) {
	alice := Page{}.Next("alice")
	for query, want := range map[string]Page{
		"":                                    {Limit: 50},
		"limit=":                              {Limit: 50},
		"limit=1":                             {Limit: 1},
		"limit=1000":                          {Limit: 1000},
		"limit=1001":                          {Limit: 1000},
		"limit=9223372036854775":              {Limit: 1000},
		"limit=99999999999999999999":          {Limit: 1000},
		"limit=2&after=" + alice:              {Limit: 2, After: "alice"},
		"after=" + alice + "&other=yes":       {Limit: 50, After: "alice"},
		"after=" + (Page{}).Next("ü/\x00 ok"): {Limit: 50, After: "ü/\x00 ok"},
	} {
		got, err := readPage(httptest.NewRequest("GET", "/?"+query, nil))
		if err != nil || got != want {
			t.Errorf("%q: got %+v, %v", query, got, err)
		}
	}
	for query, fields := range map[string]int{
		"limit=0": 1, "limit=-1": 1, "limit=ten": 1, "limit=1.5": 1, "limit=010": 1, "after=%21": 1, "limit=x&after=%21": 2,
		"after=YWxpY2U": 1, "after=" + alice + "A": 1, "after=" + alice[1:]: 1, "after=" + alice + "%0A": 1,
		"after=" + Page{list: "/rest/other"}.Next("alice"): 1,
	} {
		_, err := readPage(httptest.NewRequest("GET", "/?"+query, nil))
		if e := fault.As(err); e == nil || e.Code != fault.Invalid || len(e.Fields) != fields {
			t.Errorf("%q: %v", query, err)
		}
	}
}

// TestPages walks a list to its end: every item once, in order.
func TestPages(t *testing.T) {
	all := []int{2, 3, 5, 7, 11, 13, 17}
	for limit := 1; limit <= len(all)+1; limit++ {
		var got []int
		next := ""
		for {
			p, err := readPage(httptest.NewRequest("GET", fmt.Sprintf("/?limit=%d&after=%s", limit, url.QueryEscape(next)), nil))
			if err != nil {
				t.Fatal(err)
			}
			from := 0
			if p.After != "" {
				last, _ := strconv.Atoi(p.After)
				from = slices.Index(all, last) + 1
			}
			rows := all[from:min(from+p.Limit+1, len(all))]
			l, _ := NewList(p, rows, nil, strconv.Itoa, func(n int) int { return n })
			got = append(got, l.Items...)
			if next = l.Next; next == "" {
				break
			}
		}
		if !slices.Equal(got, all) {
			t.Errorf("by %d: %v", limit, got)
		}
	}
}
