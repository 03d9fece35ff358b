package notify

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Differs reports whether people would see a difference between two versions of a
// rule; who saved them does not count.
func (r *Rule) Differs(other *Rule) bool {
	return r.AuthorizationID != other.AuthorizationID || r.Paused != other.Paused || len(r.changedMembers(other)) > 0
}

// changedMembers names the members, as the REST API does, in which two versions
// of a rule differ.
func (r *Rule) changedMembers(other *Rule) []string {
	before, after := r.members(), other.members()
	all := maps.Clone(before)
	maps.Copy(all, after)
	maps.DeleteFunc(all, func(name, _ string) bool { return before[name] == after[name] })
	return slices.Sorted(maps.Keys(all))
}

// members are what people set of a rule, by the names of the REST API.
func (r *Rule) members() map[string]string {
	m := map[string]string{
		"name": r.Name, "projectKey": r.ProjectKey, "repositoryKey": r.RepositoryKey, "webhookUrl": strconv.FormatInt(r.ChannelID, 10),
		"channelName": r.ChannelName, "format": string(r.Format), "enabled": strconv.FormatBool(r.Enabled),
	}
	for _, kept := range []any{r.Filter, r.Options} {
		encoded, _ := json.Marshal(kept) // strings and keys always encode
		var values map[string]json.RawMessage
		_ = json.Unmarshal(encoded, &values)
		for name, value := range values {
			m[name] = string(value)
		}
	}
	if r.OfCloud() {
		m[expectedEvents] = m["eventTypes"]
		delete(m, "eventTypes")
	}
	return m
}

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
	f.Projects = folded(f.Projects)
	for _, list := range f.people() {
		*list.names = folded(*list.names)
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

// folded returns names that have no case, each once and in order.
func folded(names []string) []string { return slices.Sorted(maps.Keys(foldedSet(names))) }

// ordered is as of a Filter.
func (o Options) ordered() Options {
	if o.QuietHours != nil {
		q := *o.QuietHours
		q.Days, q.Urgent = slices.Sorted(slices.Values(q.Days)), slices.Sorted(slices.Values(q.Urgent))
		o.QuietHours = &q
	}
	return o
}
