package bitbucket

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func userOut(u *User) map[string]any {
	return map[string]any{
		"name": u.Name, "displayName": u.DisplayName, "emailAddress": u.Email, "active": !u.Inactive,
		"slug": strings.ToLower(u.Name), "type": "NORMAL",
	}
}

// listUsers answers those whose name, display name or address contains the
// filter, who are in the group, and who have every permission asked for,
// through groups too.
func (p *Platform) listUsers(a *asking) {
	q := a.r.URL.Query()
	filter := strings.ToLower(q.Get("filter"))
	var found []any
	for i := range p.o.Users {
		u := &p.o.Users[i]
		if filter != "" && !strings.Contains(strings.ToLower(u.Name+"\n"+u.DisplayName+"\n"+u.Email), filter) {
			continue
		}
		if group := q.Get("group"); group != "" && !slices.Contains(p.members(group), u.Name) {
			continue
		}
		allowed := true
		for n := 1; allowed && q.Has(permission(n)); n++ {
			var known bool
			allowed, known = p.may(u, q.Get(permission(n)), q.Get(permission(n)+".projectKey"), q.Get(permission(n)+".repositorySlug"))
			if !known {
				a.fail(http.StatusNotFound, "project.NoSuchProjectException", "The project or repository of "+permission(n)+" does not exist.")
				return
			}
		}
		if allowed {
			found = append(found, userOut(u))
		}
	}
	page(p, a, found)
}

// listGroups answers the names of groups that contain the filter.
func (p *Platform) listGroups(a *asking) {
	filter := strings.ToLower(a.r.URL.Query().Get("filter"))
	var found []any
	for _, name := range slices.Sorted(maps.Keys(p.o.Groups)) {
		if strings.Contains(strings.ToLower(name), filter) {
			found = append(found, name)
		}
	}
	page(p, a, found)
}

// members returns who is in a group; names of groups have no case.
func (p *Platform) members(group string) []string {
	for name, members := range p.o.Groups {
		if strings.EqualFold(name, group) {
			return members
		}
	}
	return nil
}

func permission(n int) string { return "permission." + strconv.Itoa(n) }

// may reports whether a user has a permission, and whether there is what it is
// about.
func (p *Platform) may(u *User, permission, projectKey, slug string) (allowed, known bool) {
	global := u.Permission == "SYS_ADMIN" || u.Permission == "ADMIN" && permission != "SYS_ADMIN"
	switch permission {
	case "ADMIN", "SYS_ADMIN":
		return global, true
	case "LICENSED_USER":
		return true, true
	}
	project := p.o.Project(projectKey)
	if project == nil {
		return false, false
	}
	ofProject := global || p.holds(project.Admins, u.Name)
	if permission == "PROJECT_ADMIN" {
		return ofProject, true
	}
	repository := project.Repository(slug)
	if repository == nil {
		return false, false
	}
	admin := ofProject || p.holds(repository.Admins, u.Name)
	switch permission {
	case "REPO_ADMIN":
		return admin, true
	case "REPO_READ":
		return admin || repository.Readers == nil || p.holds(repository.Readers, u.Name), true
	}
	return false, true
}
