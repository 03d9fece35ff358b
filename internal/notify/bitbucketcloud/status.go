package bitbucketcloud

import (
	"cmp"
	"path"
	"regexp"
	"strings"
	"time"

	"outrigger/internal/notify"
	"outrigger/internal/notify/payload"
)

// commitStatus is what a build server, or the platform's own Pipelines, says of
// a commit.
type commitStatus struct {
	key, name, state, description, url, refname string
	commit                                      commit
	commitLink                                  string // of the API
	created, updated                            time.Time
}

func (s *commitStatus) read(r *payload.Reader) {
	*s = commitStatus{}
	for name := range r.Object {
		switch string(name) {
		case "key":
			s.key = r.Text()
		case "name":
			s.name = r.Text()
		case "state":
			s.state = r.Text()
		case "description":
			s.description = r.Text()
		case "url":
			s.url = r.Text()
		case "refname":
			s.refname = r.Text()
		case "commit":
			s.commit = readCommit(r)
		case "links":
			s.commitLink = readLink(r, "commit")
		case "created_on":
			s.created = r.Time()
		case "updated_on":
			s.updated = r.Time()
		}
	}
}

// statusSet tells of a build, and what became of a pipeline where it is one.
func statusSet(h *hook) ([]notify.Event, error) {
	s := &h.status
	if s.key == "" && s.name == "" {
		return nil, notify.NotUnderstood("the commit_status has no key")
	}
	if s.commit.id == "" && s.commitLink != "" { // older bodies have no commit
		s.commit.id = payload.Hash(path.Base(s.commitLink))
	}
	e := h.event(notify.BuildStatusSet)
	e.At = s.updated
	if e.At.IsZero() {
		e.At = s.created
	}
	e.Branch = payload.Cut(strings.TrimPrefix(strings.TrimPrefix(s.refname, "refs/heads/"), "refs/tags/"))
	e.Build = &notify.Build{
		Commit: s.commit.id, Key: payload.Cut(cmp.Or(s.key, s.name)), Name: payload.Cut(s.name), State: payload.Cut(s.state),
		Description: payload.Cut(s.description), URL: payload.Page(s.url),
	}
	if page := h.site.commit(&h.repository, &s.commit); page != "" {
		e.URL = page
	}
	if t, ok := pipelineType(s.state); ok && h.ofPipeline() {
		e.Types = []notify.EventType{t, notify.BuildStatusSet}
	}
	return []notify.Event{e}, nil
}

func pipelineType(state string) (notify.EventType, bool) {
	switch state {
	case "INPROGRESS":
		return notify.PipelineStarted, true
	case "SUCCESSFUL":
		return notify.PipelineSucceeded, true
	case "FAILED":
		return notify.PipelineFailed, true
	case "STOPPED":
		return notify.PipelineStopped, true
	}
	return 0, false
}

var (
	// pipelinePage is the page of a run, below its repository's:
	// /addon/pipelines/home#!/results/4, and in newer bodies /pipelines/results/4.
	pipelinePage = regexp.MustCompile(`^/(addon/)?pipelines/`)
	pipelineName = regexp.MustCompile(`^Pipeline #[0-9]+( |$)`)
	wholeNumber  = regexp.MustCompile(`^[0-9]+$`)
)

// ofPipeline reports whether the status is that of a run of the platform's own
// Pipelines, which no member of a body says: it leads to the run's page in the
// same repository. Without an address, the name and the key are like a run's.
func (h *hook) ofPipeline() bool {
	s := &h.status
	if s.url == "" {
		return pipelineName.MatchString(s.name) && wholeNumber.MatchString(s.key)
	}
	for _, r := range []*repository{&h.repository, {workspace: h.repository.workspace, slug: h.repository.slug}} {
		base := strings.TrimRight(h.site.repositoryURL(r), "/")
		if base != "" && len(s.url) > len(base) && strings.EqualFold(s.url[:len(base)], base) && pipelinePage.MatchString(s.url[len(base):]) {
			return true
		}
	}
	return false
}
