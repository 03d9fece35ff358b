package bitbucketcloud

import (
	"net/http"
	"net/url"
	"strconv"

	"outrigger/internal/playground/played"
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
	out := map[string]any{"pagelen": length, "page": number, "size": len(values), "values": values[from:to:to]}
	if to < len(values) {
		out["next"] = p.link(a.r, number+1)
	}
	p.spoil(a, out, number, values)
	a.answer(http.StatusOK, project(out, a.r.URL.Query().Get("fields")))
}

// spoil is what faults do to pages.
func (p *Platform) spoil(a *asking, out map[string]any, number int, values []any) {
	next := p.link(a.r, number+1)
	switch a.fault.Kind {
	case played.Endless: // a further page with nothing on it, for ever
		out["values"], out["next"] = []any{}, next
	case played.Inventing:
		out["values"], out["next"] = []any{map[string]any{"id": number, "title": "Invented", "uuid": uuid()}}, next
	case played.Repeating: // the first page again and again
		out["values"], out["next"] = values[:min(len(values), p.o.MaxPage)], next
	case played.Standing:
		out["next"] = p.link(a.r, number)
	case played.Ragged:
		delete(out, "values")
	case played.Elsewhere:
		out["next"] = "https://api.example.net" + a.r.URL.Path + "?page=2"
	case played.Nulling:
		out["values"] = []any{nil, nulls(), nulls()}
	}
}

// nulls is a value of any list with nothing in it.
func nulls() map[string]any {
	out := map[string]any{}
	for _, name := range []string{
		"id", "title", "draft", "state", "author", "reviewers", "participants", "source", "destination", "links", "created_on", "updated_on",
		"uuid", "url", "active", "events", "secret_set", "permission", "repository", "user", "key", "name", "event",
	} {
		out[name] = nil
	}
	return out
}

// link is the request's own URL with another page.
func (p *Platform) link(r *http.Request, page int) string {
	u := url.URL{Scheme: p.o.Scheme, Host: p.o.Host, Path: r.URL.Path}
	if u.Scheme == "" {
		u.Scheme = "http"
	}
	if u.Host == "" {
		u.Host = r.Host
	}
	query := r.URL.Query()
	query.Set("page", strconv.Itoa(page))
	u.RawQuery = query.Encode()
	return u.String()
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
