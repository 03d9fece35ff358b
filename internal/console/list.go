package console

import "cmp"

// List is a paged list with filters: what the data of its page embeds. The filters
// stand in the list's address.
type List struct {
	*Form
	Path    string // of the list
	Query   string // what is chosen, as the address has it: "?state=failed", or ""
	Filters []Filter
	Total   string // how long the list is, in words; "" where that is not known
	Pager   Pager
	Bar     Bar
	kept    []string // pairs of names and values that the address has beside the filters
}

// Filter is one field above a list: a choice where it has options, else a text.
type Filter struct {
	Name, Label string
	Options     []Option
	Placeholder string   // of a text
	Suggestions []string // of a text
	Search      bool     // the text that the list is searched by
}

// Bar is what can be done with the rows that are ticked: a button for each action,
// which is posted as "do".
type Bar struct {
	One, Many string // "delivery", "deliveries"
	Actions   []BarAction
	All       *Action // what leads to doing it with all that the filters select
}

// BarAction is a button of a bar.
type BarAction struct{ Value, Label string }

// NewList is a list at path whose filters have what the form holds. kept are pairs of
// names and values that the address has too.
func NewList(path string, form *Form, filters []Filter, kept ...string) List {
	l := List{Form: form, Path: path, Filters: filters, kept: kept}
	l.Query = l.query()
	return l
}

func (l *List) query(more ...string) string {
	pairs := append([]string{}, l.kept...)
	for _, f := range l.Filters {
		pairs = append(pairs, f.Name, l.Get(f.Name))
	}
	return Query(append(pairs, more...)...)
}

// Offer sets the choices of a filter; the first one filters nothing.
func (l *List) Offer(name string, options []Option) {
	for i := range l.Filters {
		if l.Filters[i].Name == name {
			l.Filters[i].Options = options
		}
	}
}

// Kept are the values that the form of the filters posts beside them.
func (l List) Kept() (list []Hidden) {
	for i := 0; i < len(l.kept); i += 2 {
		if l.kept[i+1] != "" {
			list = append(list, Hidden{l.kept[i], l.kept[i+1]})
		}
	}
	return list
}

// Filtered reports whether a filter is chosen.
func (l List) Filtered() bool {
	for _, f := range l.Filters {
		if l.Get(f.Name) != "" {
			return true
		}
	}
	return false
}

// PageOf returns the rows of a page of a list, of which it has so many at most, and has the
// pager lead on where rows has one more: to what is behind the place of the last row, in
// pairs of names and values.
func PageOf[T any](l *List, rows []T, most int, first bool, place func(*T) []string) []T {
	if !first {
		l.FromFirst()
	}
	if len(rows) > most {
		rows = rows[:most]
		l.NextAt(place(&rows[most-1])...)
	}
	return rows
}

// NextAt has the pager lead on to what is behind a place of the list, which the pairs
// of names and values say.
func (l *List) NextAt(place ...string) { l.Pager.Next = l.Path + l.query(place...) }

// FromFirst has the pager lead back to the first page.
func (l *List) FromFirst() { l.Pager.First = l.Path + l.Query }

// Count says the total of a list whose page has n rows: that many where there is no other
// page, else what counted counts to MaxTotal, where that is known.
func (l *List) Count(n int, one, many string, counted func() (n int, known bool, err error)) error {
	if l.Pager != (Pager{}) {
		all, known, err := counted()
		if err != nil || !known {
			return err
		}
		n = all
	}
	l.Total = TotalOf(n, one, many)
	return nil
}

// MaxTotal is as far as rows of a list are counted.
const MaxTotal = 10_000

// TotalOf says how many rows a list has that were counted to MaxTotal.
func TotalOf(n int, one, many string) string {
	if n >= MaxTotal {
		return Count(MaxTotal) + " and more"
	}
	word := many
	if n == 1 {
		word = one
	}
	return Count(n) + " " + cmp.Or(word, one)
}
