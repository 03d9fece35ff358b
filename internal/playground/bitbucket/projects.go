package bitbucket

import (
	"net/http"
	"slices"
	"strings"
)

func projectOut(project *Project) map[string]any {
	return map[string]any{"key": project.Key, "id": project.ID, "name": project.Name, "type": "NORMAL", "public": false}
}

func repositoryOut(project *Project, r *Repository) map[string]any {
	return map[string]any{"slug": r.Slug, "id": r.ID, "name": r.Slug, "state": "AVAILABLE", "project": projectOut(project)}
}

func (p *Platform) listProjects(a *asking) {
	var all []any
	for i := range p.o.Projects {
		if project := &p.o.Projects[i]; named(a, project.Name, project.Key) && p.wanted(a, project.Key, "") {
			all = append(all, projectOut(project))
		}
	}
	page(p, a, all)
}

// listAllRepositories answers those of all projects.
func (p *Platform) listAllRepositories(a *asking) {
	var all []any
	for i := range p.o.Projects {
		project := &p.o.Projects[i]
		for j := range project.Repositories {
			if r := &project.Repositories[j]; ofProject(a, project.Key) && named(a, r.Slug) && p.wanted(a, project.Key, r.Slug) {
				all = append(all, repositoryOut(project, r))
			}
		}
	}
	page(p, a, all)
}

// named reports whether one of the names has what a list is limited to, where it is.
func named(a *asking, names ...string) bool {
	part := strings.ToLower(strings.TrimSpace(a.r.URL.Query().Get("name")))
	return slices.ContainsFunc(names, func(name string) bool { return strings.Contains(strings.ToLower(name), part) })
}

// ofProject reports whether a list is limited to the project, or to none.
func ofProject(a *asking, key string) bool {
	only := a.r.URL.Query().Get("projectkey")
	return only == "" || strings.EqualFold(only, key)
}

// wanted reports whether who asks has the permission that a list is limited to,
// where it is.
func (p *Platform) wanted(a *asking, project, slug string) bool {
	permission := a.r.URL.Query().Get("permission")
	switch {
	case permission == "" || a.who == nil:
		return true
	case a.scope != "" && a.scope != "PROJECT_ADMIN": // a token has no more than its scope
		return false
	}
	allowed, _ := p.may(a.who, permission, project, slug)
	return allowed
}

// projectOf returns the project of the path; nil after it was answered that there
// is none.
func (p *Platform) projectOf(a *asking) *Project {
	key := a.r.PathValue("project")
	project := p.o.Project(key)
	if project == nil {
		a.fail(http.StatusNotFound, "project.NoSuchProjectException", "Project "+key+" does not exist.")
	}
	return project
}

// repositoryOf returns the repository of the path; nil after it was answered that
// there is none.
func (p *Platform) repositoryOf(a *asking) (*Project, *Repository) {
	project := p.projectOf(a)
	if project == nil {
		return nil, nil
	}
	slug := a.r.PathValue("repository")
	repository := project.Repository(slug)
	if repository == nil {
		a.fail(http.StatusNotFound, "repository.NoSuchRepositoryException", "Repository "+project.Key+"/"+slug+" does not exist.")
	}
	return project, repository
}

func (p *Platform) oneRepository(a *asking) {
	if project, repository := p.repositoryOf(a); repository != nil {
		a.answer(http.StatusOK, repositoryOut(project, repository))
	}
}
