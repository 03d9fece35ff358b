package bitbucketcloud

import (
	"encoding/json"
	"net/http"
	"slices"
	"time"
)

// Status is a build status of a commit.
type Status struct {
	State, Key, Name, URL, Description, Refname string
	Created, Updated                            time.Time
}

// setStatus stores a build status of a commit, in place of that of its key.
func (p *Platform) setStatus(commit string, s Status) Status {
	s.Updated = p.o.Clock()
	s.Created = s.Updated
	if i := slices.IndexFunc(p.statuses[commit], func(o Status) bool { return o.Key == s.Key }); i >= 0 {
		s.Created = p.statuses[commit][i].Created
		p.statuses[commit][i] = s
	} else {
		p.statuses[commit] = append(p.statuses[commit], s)
	}
	return s
}

func (s *Status) out() map[string]any {
	out := map[string]any{
		"type": "build", "state": s.State, "key": s.Key, "name": s.Name, "url": s.URL, "description": s.Description,
		"refname": nil, "created_on": iso(s.Created), "updated_on": iso(s.Updated),
	}
	if s.Refname != "" {
		out["refname"] = s.Refname
	}
	return out
}

func (p *Platform) listStatuses(a *asking) {
	if p.repositoryOf(a) == nil {
		return
	}
	var values []any
	for _, s := range p.statuses[a.r.PathValue("commit")] {
		values = append(values, s.out())
	}
	p.page(a, values)
}

func (p *Platform) postStatus(a *asking) {
	if p.repositoryOf(a) == nil {
		return
	}
	var s Status
	if json.NewDecoder(a.r.Body).Decode(&s) != nil || s.Key == "" || s.URL == "" ||
		!slices.Contains([]string{"SUCCESSFUL", "FAILED", "INPROGRESS", "STOPPED"}, s.State) {
		a.fail(http.StatusBadRequest, "Bad request")
		return
	}
	s = p.setStatus(a.r.PathValue("commit"), s)
	a.answer(http.StatusCreated, s.out())
}
