package console

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

const (
	findPage = "find"
	findPath = "/find"

	// MaxFound is how many things of a kind a search lists.
	MaxFound = 8
	// maxQuery bounds what is searched for, in bytes.
	maxQuery = 200

	// findsAMinute is how many searches one reader may ask for: one for each pause
	// while typing.
	findsAMinute = 120
)

// Found is a thing that a search found, and its page.
type Found struct{ Kind, Label, Where, Path string }

// Finder finds the things of a wing by name or number, at most MaxFound of a kind:
// those that the reader, who is in ctx, may see. query is not empty and has no spaces
// around it.
type Finder func(ctx context.Context, query string) ([]Found, error)

// AddFinder adds what a wing finds.
func (c *Console) AddFinder(f Finder) { c.finders = append(c.finders, f) }

type findView struct {
	*Form
	Query string
	Found []Found
}

func (c *Console) find(x *exchange) (Response, error) {
	query := strings.TrimSpace(x.r.URL.Query().Get("q"))
	if len(query) > maxQuery {
		return nil, fault.New(fault.Invalid, "Search for at most %d characters.", maxQuery)
	}
	view := findView{Form: NewForm().Set("q", query), Query: query}
	if query != "" {
		if wait := c.finds.Take(x.principal.Ref(), findsAMinute, c.opts.Clock()); wait > 0 {
			return nil, fault.TooOften(wait, "You searched very often. Try again in a moment.")
		}
	}
	view.Found = c.pagesNamed(x.principal, query)
	if query != "" {
		for _, f := range c.finders {
			found, err := f(x.r.Context(), query)
			if err != nil {
				return nil, err
			}
			view.Found = append(view.Found, found...)
		}
	}
	return Page{Template: findPage, Title: "Go to", Data: view}, nil
}

// pagesNamed are the pages of the navigation and of the reader's menu whose name has
// the text, in the order of the navigation.
func (c *Console) pagesNamed(p *identity.Principal, text string) (found []Found) {
	text = strings.ToLower(text)
	entries := slices.Clone(c.nav)
	slices.SortStableFunc(entries, func(a, b Nav) int { return cmp.Compare(rank(a.Section), rank(b.Section)) })
	for _, n := range entries {
		if (n.Visible == nil || n.Visible(p)) && strings.Contains(strings.ToLower(n.Section+" "+n.Label), text) {
			found = append(found, Found{Kind: "Page", Label: n.Label, Where: n.Section, Path: n.Path})
		}
	}
	for _, l := range c.menu {
		if text != "" && strings.Contains(strings.ToLower(l.Label), text) {
			found = append(found, Found{Kind: "Page", Label: l.Label, Where: "Your account", Path: l.Path})
		}
	}
	return found
}
