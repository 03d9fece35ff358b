package client

import (
	"context"
	"net/url"

	"outrigger/internal/notify"
)

// Projects lists the keys of the projects that the connection's account sees;
// personal ones are not among them.
func (cl *Client) Projects(ctx context.Context, c *notify.Connection) ([]notify.Project, error) {
	var all []notify.Project
	err := list(ctx, cl, c, apiPath+"/projects", nil, func(p struct{ Key, Name string }) bool {
		if p.Key != "" {
			all = append(all, notify.Project{Key: p.Key, Name: p.Name})
		}
		return false
	})
	return all, err
}

func projectPath(key string) string { return apiPath + "/projects/" + url.PathEscape(key) }
