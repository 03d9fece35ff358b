package notify

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// DoesTheSame reports whether two rules differ in nothing but names and whether they
// are enabled.
func (r *Rule) DoesTheSame(other *Rule) bool {
	return r.Connection == other.Connection && Fold(r.ProjectKey) == Fold(other.ProjectKey) &&
		Fold(r.RepositoryKey) == Fold(other.RepositoryKey) &&
		r.ChannelID == other.ChannelID && r.Format == other.Format &&
		reflect.DeepEqual(r.Options.ordered(), other.Options.ordered()) && reflect.DeepEqual(r.Filter.ordered(), other.Filter.ordered())
}

// ordered is a filter as it can be compared: lists in order, and names that have no
// case folded.
func (f Filter) ordered() Filter {
	f.EventTypes = slices.Sorted(slices.Values(f.EventTypes))
	f.Branches = slices.Sorted(slices.Values(f.Branches))
	for _, names := range []*[]string{&f.Projects, &f.Users, &f.IgnoredUsers, &f.Groups, &f.IgnoredGroups, &f.Reviewers} {
		var folded []string
		for _, name := range *names {
			folded = append(folded, Fold(name))
		}
		slices.Sort(folded)
		*names = slices.Compact(folded)
	}
	var refs []RepositoryRef
	for _, ref := range f.Repositories {
		refs = append(refs, ref.Folded())
	}
	slices.SortFunc(refs, func(a, b RepositoryRef) int {
		return cmp.Or(strings.Compare(a.ProjectKey, b.ProjectKey), strings.Compare(a.RepositoryKey, b.RepositoryKey))
	})
	f.Repositories = slices.Compact(refs)
	return f
}

// ordered is as of a Filter.
func (o Options) ordered() Options {
	if o.QuietHours != nil {
		q := *o.QuietHours
		q.Days, q.Urgent = slices.Sorted(slices.Values(q.Days)), slices.Sorted(slices.Values(q.Urgent))
		o.QuietHours = &q
	}
	return o
}
