package bitbucket

import "net/http"

func projectOut(project *Project) map[string]any {
	return map[string]any{"key": project.Key, "id": project.ID, "name": project.Name, "type": "NORMAL", "public": false}
}

func repositoryOut(project *Project, r *Repository) map[string]any {
	return map[string]any{"slug": r.Slug, "id": r.ID, "name": r.Slug, "state": "AVAILABLE", "project": projectOut(project)}
}

func (p *Platform) listProjects(a *asking) {
	var all []any
	for i := range p.projects {
		all = append(all, projectOut(&p.projects[i]))
	}
	page(p, a, all)
}

// projectOf gives the project of the path; nil after it was answered that there
// is none.
func (p *Platform) projectOf(a *asking) *Project {
	key := a.r.PathValue("project")
	project := p.project(key)
	if project == nil {
		a.fail(http.StatusNotFound, "project.NoSuchProjectException", "Project "+key+" does not exist.")
	}
	return project
}

func (p *Platform) oneProject(a *asking) {
	if project := p.projectOf(a); project != nil {
		a.answer(http.StatusOK, projectOut(project))
	}
}

func (p *Platform) listRepositories(a *asking) {
	project := p.projectOf(a)
	if project == nil {
		return
	}
	var all []any
	for i := range project.Repositories {
		all = append(all, repositoryOut(project, &project.Repositories[i]))
	}
	page(p, a, all)
}

// repositoryOf gives the repository of the path; nil after it was answered that
// there is none.
func (p *Platform) repositoryOf(a *asking) (*Project, *Repository) {
	project := p.projectOf(a)
	if project == nil {
		return nil, nil
	}
	slug := a.r.PathValue("repository")
	repository := project.repository(slug)
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
