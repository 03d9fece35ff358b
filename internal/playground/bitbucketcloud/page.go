package bitbucketcloud

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"
)

// page answers one page of values: 10 unless pagelen says otherwise. The link to
// the next is absolute.
func (p *Platform) page(a *asking, values []any) {
	if values == nil {
		values = []any{} // which JSON does not write as null
	}
	length, number := whole(a.r, "pagelen", 10), whole(a.r, "page", 1)
	if length > p.o.MaxPage && p.o.MaxPage >= 50 || length < 1 || number < 1 {
		a.fail(http.StatusBadRequest, "Invalid pagelen or page")
		return
	}
	length = min(length, p.o.MaxPage)
	from := min((number-1)*length, len(values))
	to := min(from+length, len(values))
	out := map[string]any{"pagelen": length, "page": number, "size": len(values), "values": made(values[from:to])}
	if to < len(values) {
		out["next"] = p.link(a.r, number+1)
	}
	a.answer(http.StatusOK, project(out, a.r.URL.Query().Get("fields")))
}

// made makes the values of a page: those of long lists are made when they are
// needed.
func made(values []any) []any {
	out := make([]any, len(values))
	for i, v := range values {
		if make, ok := v.(func() any); ok {
			v = make()
		}
		out[i] = v
	}
	return out
}

// site is where the platform is reached.
func (p *Platform) site(r *http.Request) string {
	return cmp.Or(p.o.Site, "http://"+r.Host)
}

// link is the request's own URL with another page.
func (p *Platform) link(r *http.Request, page int) string {
	query := r.URL.Query()
	query.Set("page", strconv.Itoa(page))
	return p.site(r) + r.URL.EscapedPath() + "?" + query.Encode()
}

func whole(r *http.Request, name string, otherwise int) int {
	text := r.URL.Query().Get(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return -1
	}
	return n
}

// project leaves of an answer what the query's fields name, as the vendor's
// "partial responses" do: "next,values.id"; "" is all, and so is what only adds
// ("+values.reviewers").
func project(value any, fields string) any {
	if fields == "" || fields[0] == '+' {
		return value
	}
	return keep(value, strings.Split(fields, ","))
}

// keep leaves the members that paths name, through lists.
func keep(value any, paths []string) any {
	switch v := value.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = keep(v[i], paths)
		}
		return out
	case map[string]any:
		below := map[string][]string{}
		whole := map[string]bool{}
		for _, path := range paths {
			name, rest, more := strings.Cut(path, ".")
			if more {
				below[name] = append(below[name], rest)
			} else {
				whole[name] = true
			}
		}
		out := map[string]any{}
		for name, member := range v {
			if whole[name] {
				out[name] = member
			} else if len(below[name]) > 0 {
				out[name] = keep(member, below[name])
			}
		}
		return out
	}
	return value
}
