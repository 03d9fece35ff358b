package app

import (
	"context"

	"outrigger/internal/notify"
	cloud "outrigger/internal/notify/bitbucketcloud/client"
	"outrigger/internal/notify/bitbucketdc/client"
)

// versions asks platforms what they are, each edition by its own client.
type versions struct {
	selfHosted *client.Client
	cloud      *cloud.Client
}

// ask is notify.Hooks.Ask.
func (v versions) ask(ctx context.Context, c *notify.Connection) (string, error) {
	if c.Edition() == notify.Cloud {
		return v.cloud.Version(ctx, c)
	}
	return v.selfHosted.Version(ctx, c)
}
