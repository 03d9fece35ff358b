package pages

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/admin"
	"outrigger/internal/notify/branchmask"
)

// maxSeenBranches is how many branches of the last events a mask is tried on.
const maxSeenBranches = 20

// understand says how the places and branches of a draft were understood, by member;
// "" where there is nothing to say. Masks are tried on the branches of the last events.
func (p *Pages) understand(ctx context.Context, draft *notify.Rule) map[string]string {
	about := map[string]string{
		"projects": "", "repositories": "", "branches": "",
		"branchMask": "", "ignoredBranchMask": "", "sourceBranchMask": "", "destinationBranchFilter": "",
	}
	if n := len(draft.Projects); n > 0 {
		about["projects"] = console.Counted(n, "project", "projects") + "."
	}
	if n := len(draft.Repositories); n > 0 {
		about["repositories"] = console.Counted(n, "repository", "repositories") + "."
	}
	seen := p.seenBranches(ctx, draft)
	if names := draft.Branches; len(names) > 0 {
		text := console.Counted(len(names), "name", "names") + ", compared exactly, with case."
		if len(seen) > 0 {
			text += " " + sawSome(seen, func(name string) bool { return slices.Contains(names, name) })
		}
		about["branches"] = text
	}
	p.understandMasks(ctx, &draft.Filter, seen, about)
	return about
}

func (p *Pages) understandMasks(ctx context.Context, f *notify.Filter, seen []string, about map[string]string) {
	if f.BranchMask+f.IgnoredBranchMask+f.SourceBranchMask+f.DestinationBranchFilter == "" {
		return
	}
	names := seen
	if len(names) == 0 {
		names = []string{"main"} // what does not compile is said all the same
	}
	tried, err := p.Trials.TryMasks(ctx, f, names, nil)
	if e := fault.As(err); e != nil {
		for _, wrong := range e.Fields {
			about[wrong.Name] = wrong.Message
		}
		return
	}
	for _, mask := range tried {
		text := "A mask for the whole name."
		if mask.Member == "destinationBranchFilter" {
			text = "It may match anywhere in the name."
		}
		if len(seen) > 0 && mask.Member != "sourceBranchMask" {
			text += " " + sawSome(seen, func(name string) bool {
				return slices.ContainsFunc(mask.Names, func(t branchmask.Tried) bool { return t.Branch == name && (t.Match || t.Err != nil) })
			})
		}
		about[mask.Member] = text
	}
}

// sawSome says which of the branches of the last events match.
func sawSome(seen []string, match func(string) bool) string {
	var yes []string
	for _, name := range seen {
		if match(name) {
			yes = append(yes, name)
		}
	}
	of := strconv.Itoa(len(seen)) + " branches and tags of the last events"
	if len(seen) == 1 {
		of = "only branch of the last events, " + seen[0]
	}
	switch {
	case len(yes) == 0 && len(seen) == 1:
		return "Does not match the " + of + "."
	case len(yes) == 0:
		return "Matches none of the " + of + ": " + listed(seen) + "."
	case len(seen) == 1:
		return "Matches the " + of + "."
	case len(yes) == len(seen):
		return "Matches all " + of + "."
	}
	return "Matches " + strconv.Itoa(len(yes)) + " of the " + of + ": " + listed(yes) + "."
}

// seenBranches are those of the last events of a draft's place, the newest first.
func (p *Pages) seenBranches(ctx context.Context, draft *notify.Rule) (names []string) {
	page, err := p.Events.List(ctx, notify.EventFilter{
		Connection: draft.Connection, Project: draft.ProjectKey, Repository: draft.RepositoryKey, Understood: true, Limit: pageSize,
	})
	if err != nil { // who may not see events is told nothing of them
		return nil
	}
	for _, e := range page.Events {
		if e.Event != nil && e.Event.Branch != "" && len(names) < maxSeenBranches && !slices.Contains(names, e.Event.Branch) {
			names = append(names, e.Event.Branch)
		}
	}
	return names
}

// because says why a trial took nothing: the filters that refused, each with how many
// events, the most first; "" where it took some.
func because(t *admin.Trial, types []notify.EventType) string {
	if t.Taken > 0 || len(t.Events) == 0 {
		return ""
	}
	refused := map[string]int{}
	for i := range t.Events {
		e := &t.Events[i]
		refused[reasonOf(e.Reason, types, e.Event).Filter]++
	}
	filters := slices.SortedFunc(maps.Keys(refused), func(a, b string) int {
		return cmp.Or(refused[b]-refused[a], strings.Compare(a, b))
	})
	for i, f := range filters {
		filters[i] = f + " (" + strconv.Itoa(refused[f]) + ")"
	}
	return "None, because of " + strings.Join(filters, ", ") + "."
}
