package client

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/notify/bitbucketdc"
)

const (
	// pullRequestPage is how many pull requests are asked for at once: each may
	// have a description of 32,768 characters, so that more could pass
	// maxAnswer.
	pullRequestPage = 40
	// maxPullRequests is far more than people can have open in one repository:
	// what goes on after them is machines, or no honest list.
	maxPullRequests = 10_000
)

// OpenPullRequests lists the open pull requests of a repository, the last
// updated first. It takes an account that may read the repository. It is a
// notify.PullRequestLister.
//
// The last updated come first since pages are counted from the start: a pull
// request that is updated meanwhile moves there, and none of those that wait
// slips over to a page that was read already.
func (cl *Client) OpenPullRequests(ctx context.Context, c *notify.Connection, at notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	var all []notify.OpenPullRequest
	seen := map[int64]bool{}
	tooMany := false
	query := url.Values{"state": {"OPEN"}, "order": {"NEWEST"}, "limit": {strconv.Itoa(pullRequestPage)}}
	path := projectPath(at.ProjectKey) + "/repos/" + url.PathEscape(at.RepositoryKey) + "/pull-requests"
	err := list(ctx, cl, c, path, query, func(body json.RawMessage) bool {
		p := bitbucketdc.OpenPullRequest(body, c.BaseURL)
		if p.ID <= 0 || seen[p.ID] {
			return false
		}
		if tooMany = len(all) == maxPullRequests; !tooMany {
			seen[p.ID] = true
			all = append(all, p)
		}
		return tooMany
	})
	switch {
	case err != nil:
		return nil, unreadable(at, err)
	case tooMany:
		return nil, fault.New(fault.Unavailable, "The platform of %s lists more than %d open pull requests in %s/%s, the most that are read.",
			c.Name, maxPullRequests, at.ProjectKey, at.RepositoryKey)
	}
	return all, nil
}
