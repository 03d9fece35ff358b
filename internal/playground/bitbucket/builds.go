package bitbucket

import (
	"slices"
	"time"
)

// Build is the status of a build of a commit.
type Build struct {
	State, Key, Name, URL, Description, Ref string
	Added                                   time.Time
}

// SetBuild stores a build status; one of the same key before it is gone.
func (p *Platform) SetBuild(commit string, b Build) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if b.Added.IsZero() {
		b.Added = p.o.Clock()
	}
	others := slices.DeleteFunc(slices.Clone(p.builds[commit]), func(o Build) bool { return o.Key == b.Key })
	p.builds[commit] = append([]Build{b}, others...)
}

// listBuilds answers the builds of a commit in all repositories, the newest
// first.
func (p *Platform) listBuilds(a *asking) {
	var all []any
	for _, b := range p.builds[a.r.PathValue("commit")] {
		out := map[string]any{
			"state": b.State, "key": b.Key, "name": b.Name, "url": b.URL, "description": b.Description, "dateAdded": b.Added.UnixMilli(),
		}
		if b.Ref != "" {
			out["ref"] = b.Ref
		}
		all = append(all, out)
	}
	page(p, a, all)
}
