package client

import (
	"context"
	"net/url"

	"outrigger/internal/notify"
)

// Projects lists the projects that the connection's account sees;
// personal ones are not among them.
func (cl *Client) Projects(ctx context.Context, c *notify.Connection) ([]notify.ListedProject, error) {
	var all []notify.ListedProject
	err := list(ctx, cl, c, apiPath+"/projects", nil, func(p notify.ListedProject) bool {
		if p.Key != "" {
			all = append(all, p)
		}
		return false
	})
	return all, err
}

func projectPath(key string) string { return apiPath + "/projects/" + url.PathEscape(key) }
