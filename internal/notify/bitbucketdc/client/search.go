package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"outrigger/internal/notify"
	"outrigger/internal/notify/restclient"
)

// SearchProjects asks for projects with a name, at most limit of them; more reports
// whether there are others.
func (cl *Client) SearchProjects(
	ctx context.Context, c *notify.Connection, text string, limit int,
) (found []notify.Found, more bool, err error) {
	return search(ctx, cl, c, apiPath+"/projects", url.Values{"name": {text}}, limit, func(p notify.ListedProject) notify.Found {
		return notify.Found{Value: p.Key, Label: p.Name}
	})
}

// SearchRepositories asks for repositories with a name, of one project where its key
// is given; else as SearchProjects.
func (cl *Client) SearchRepositories(
	ctx context.Context, c *notify.Connection, project, text string, limit int,
) (found []notify.Found, more bool, err error) {
	type repository struct {
		Slug, Name string
		Project    struct{ Key string }
	}
	query := url.Values{"name": {text}}
	if project != "" {
		query.Set("projectkey", project)
	}
	return search(ctx, cl, c, apiPath+"/repos", query, limit, func(r repository) notify.Found {
		if r.Slug == "" || r.Project.Key == "" {
			return notify.Found{}
		}
		return notify.Found{Value: r.Project.Key + "/" + r.Slug, Label: r.Name}
	})
}

// SearchUsers asks for users by their name, display name or address; else as
// SearchProjects.
func (cl *Client) SearchUsers(
	ctx context.Context, c *notify.Connection, text string, limit int,
) (found []notify.Found, more bool, err error) {
	return search(ctx, cl, c, apiPath+"/users", url.Values{"filter": {text}}, limit, func(u user) notify.Found {
		if u.inactive() {
			return notify.Found{}
		}
		return notify.Found{Value: u.Name, Label: u.DisplayName}
	})
}

// SearchGroups asks for groups by their name; else as SearchProjects.
func (cl *Client) SearchGroups(
	ctx context.Context, c *notify.Connection, text string, limit int,
) (found []notify.Found, more bool, err error) {
	return search(ctx, cl, c, apiPath+"/groups", url.Values{"filter": {text}}, limit, func(name string) notify.Found {
		return notify.Found{Value: name}
	})
}

// search reads the first page of a list. What has no value is left out.
func search[T any](
	ctx context.Context, cl *Client, c *notify.Connection, path string, query url.Values, limit int, found func(T) notify.Found,
) (list []notify.Found, more bool, err error) {
	query.Set("limit", strconv.Itoa(limit))
	var page struct {
		Values     json.RawMessage
		IsLastPage *bool
	}
	if err := cl.get(ctx, c, path, query, &page); err != nil {
		return nil, false, err
	}
	values, ok := restclient.Values[T](page.Values)
	if !ok || page.IsLastPage == nil {
		return nil, false, restclient.NotThePlatform(c.Name)
	}
	for _, v := range values {
		if one := found(v); one.Value != "" && len(list) < limit {
			list = append(list, one)
		}
	}
	return list, !*page.IsLastPage || len(values) > limit, nil
}
