package bitbucketcloud

import (
	"net/http"
	"strings"
)

// accountOut is an account as the API writes it; null for one that is gone.
func accountOut(a *Account) any {
	if a == nil {
		return nil
	}
	return map[string]any{
		"type": "user", "account_id": a.ID, "uuid": a.UUID, "display_name": a.DisplayName, "nickname": a.Nickname,
		"links": map[string]any{"html": map[string]any{"href": "https://bitbucket.org/" + a.UUID + "/"}},
	}
}

func (p *Platform) user(a *asking) { a.answer(http.StatusOK, accountOut(a.who)) }

// permissions answers what the caller may in the repositories of a workspace:
// all, or the one of q=repository.full_name="workspace/slug".
func (p *Platform) permissions(a *asking) {
	wanted := ""
	if q := a.r.URL.Query().Get("q"); q != "" {
		var ok bool
		if wanted, ok = quoted(q, `repository.full_name=`); !ok {
			a.fail(http.StatusBadRequest, "Invalid query")
			return
		}
	}
	var values []any
	known := false
	for i := range p.o.Repositories {
		r := &p.o.Repositories[i]
		if !strings.EqualFold(r.Workspace, a.r.PathValue("workspace")) {
			continue
		}
		permission := r.Permissions[a.who.ID]
		if known = known || permission != ""; permission == "" || wanted != "" && !strings.EqualFold(r.fullName(), wanted) {
			continue
		}
		values = append(values, map[string]any{
			"type": "repository_permission", "permission": permission, "user": accountOut(a.who),
			"repository": map[string]any{"type": "repository", "full_name": r.fullName(), "name": r.Slug},
		})
	}
	if !known {
		a.fail(http.StatusNotFound, "No workspace with identifier '"+a.r.PathValue("workspace")+"'.")
		return
	}
	p.page(a, values)
}

// quoted returns the text of a condition such as name="text".
func quoted(q, name string) (string, bool) {
	rest, ok := strings.CutPrefix(q, name+`"`)
	if !ok || !strings.HasSuffix(rest, `"`) {
		return "", false
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(rest[:len(rest)-1]), true
}

// repositoryOf returns the repository of the path; nil after it was answered that
// the caller sees none.
func (p *Platform) repositoryOf(a *asking) *Repository {
	r := p.o.Repository(a.r.PathValue("workspace"), a.r.PathValue("slug"))
	if r == nil || r.Permissions[a.who.ID] == "" {
		a.fail(http.StatusNotFound, "You may not have access to this repository or it no longer exists in this workspace. If you think this "+
			"repository exists and you have access, make sure you are authenticated.")
		return nil
	}
	return r
}

func (p *Platform) oneRepository(a *asking) {
	if r := p.repositoryOf(a); r != nil {
		a.answer(http.StatusOK, p.repositoryOut(r))
	}
}

func (p *Platform) repositoryOut(r *Repository) map[string]any {
	return map[string]any{
		"type": "repository", "name": r.Slug, "slug": r.Slug, "full_name": r.fullName(),
		"workspace": map[string]any{"type": "workspace", "slug": r.Workspace},
		"project":   map[string]any{"type": "project", "key": r.ProjectKey, "name": r.ProjectName},
		"links":     map[string]any{"html": map[string]any{"href": "https://bitbucket.org/" + r.fullName()}},
	}
}
