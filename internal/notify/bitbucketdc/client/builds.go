package client

import (
	"context"
	"encoding/json"
	"net/url"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// Builds lists the builds of a commit, in whichever repository.
func (cl *Client) Builds(ctx context.Context, c *notify.Connection, commit string) ([]notify.PlatformBuild, error) {
	type build struct {
		State, Key, Name, URL, Description, Ref string
		BuildNumber                             json.RawMessage
		DateAdded, UpdatedDate                  moment
	}
	var all []notify.PlatformBuild
	err := list(ctx, cl, c, "/rest/build-status/latest/commits/"+url.PathEscape(commit), nil, func(b build) bool {
		at := b.UpdatedDate
		if at.IsZero() {
			at = b.DateAdded
		}
		all = append(all, notify.PlatformBuild{At: at.Time, Ref: b.Ref, Number: payload.TextOf(b.BuildNumber), Added: b.DateAdded.Time,
			Asked: true, Build: notify.Build{
				Commit: commit, Key: b.Key, Name: b.Name, State: b.State, Description: b.Description, URL: b.URL,
			}})
		return len(all) >= maxBuilds
	})
	return all, err
}

// maxBuilds is how many builds of one commit are looked at: more than any
// pipeline has jobs that report by themselves.
const maxBuilds = 500
