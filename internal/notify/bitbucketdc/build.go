package bitbucketdc

import (
	"strings"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// BuildEvent makes an event of a build in a repository, with the repository's
// and the commit's pages.
func BuildEvent(c *notify.Connection, at notify.RepositoryRef, b notify.PlatformBuild) notify.Event {
	site := site(strings.TrimRight(c.BaseURL, "/"))
	in := &repository{slug: at.RepositoryKey, project: project{key: at.ProjectKey}}
	build := b.Build
	build.Key, build.Name, build.Description, build.URL = payload.Cut(build.Key), payload.Cut(build.Name), payload.Cut(build.Description),
		payload.Short(build.URL)
	branch := b.Ref
	for _, prefix := range []string{"refs/heads/", "refs/tags/"} {
		branch = strings.TrimPrefix(branch, prefix)
	}
	return notify.Event{
		Types: []notify.EventType{notify.BuildStatusSet}, Key: notify.BuildKey,
		Project: site.project(&in.project), Repository: site.repository(in), Branch: payload.Cut(branch),
		Build: &build, URL: site.commit(in, b.Commit),
	}
}
