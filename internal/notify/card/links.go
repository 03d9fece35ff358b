package card

import (
	"strings"

	"outrigger/internal/notify"
)

const (
	maxLinks = 3
	// maxURL is how long a link may be, in bytes, for a card with three to
	// stay small.
	maxURL = 2000
)

// links are where the card leads: to the thing, its comment or build, and the
// repository. Nothing leads to what the event deleted.
func links(e *notify.Event, t thing) []Link {
	l := make(linkList, 0, maxLinks)
	gone := deleted(e)
	if e.Comment != nil && gone != theComment && gone != thePage {
		l.add("Open comment", e.Comment.URL)
	}
	switch {
	case e.Build != nil && t == pipeline:
		l.add("Open pipeline", e.Build.URL)
	case e.Build != nil:
		l.add("Open build", e.Build.URL)
	}
	if e.URL != e.Repository.URL && gone != thePage && gone != theRepository {
		l.add(pageName(e, t), e.URL)
	}
	if gone != theRepository {
		l.add("Open repository", e.Repository.URL)
	}
	switch {
	case gone == theRepository: // only the cloud edition says so, whose place of repositories that is
		l.add("Open workspace", e.Project.URL)
	case len(l) == 0:
		l.add("Open project", e.Project.URL)
	}
	return l
}

// absence is what an event deleted.
type absence uint8

const (
	nothing       absence = iota
	theComment            // what is commented on is still there
	thePage               // the pull request, branch or tag that the event's URL shows
	theRepository         // with all its pages
)

func deleted(e *notify.Event) absence {
	if len(e.Types) == 0 {
		return nothing
	}
	switch e.Types[0] {
	case notify.PullRequestCommentDeleted, notify.CommitCommentDeleted:
		return theComment
	case notify.PullRequestDeleted, notify.BranchDeleted, notify.TagDeleted:
		return thePage
	case notify.RepositoryDeleted:
		return theRepository
	}
	return nothing
}

// pageName is what the page of the event shows.
func pageName(e *notify.Event, t thing) string {
	switch t {
	case branch:
		if e.Ref != nil && e.Ref.Tag {
			return "Open tag"
		}
		return "Open branch"
	case pullRequest:
		return "Open pull request"
	case commit, build, pipeline, inPlace:
		return "Open commit"
	case issue:
		return "Open issue"
	}
	switch {
	case len(e.Types) > 0 && e.Types[0] == notify.RepositoryForked:
		return "Open fork"
	case e.Repository == (notify.Repository{}):
		return "Open project"
	}
	return "Open repository"
}

type linkList []Link

// add adds a link that leads somewhere new.
func (l *linkList) add(title, url string) {
	url = Absolute(url)
	if url == "" || len(*l) == maxLinks {
		return
	}
	for _, x := range *l {
		if x.URL == url {
			return
		}
	}
	*l = append(*l, Link{title, url})
}

// Absolute returns an address that chat platforms open: http or https, with a
// host, and nothing in it that would end it early in markup. What is no such
// address returns "".
func Absolute(url string) string {
	rest, ok := strings.CutPrefix(url, "https://")
	if !ok {
		rest, ok = strings.CutPrefix(url, "http://")
	}
	if !ok || rest == "" || strings.IndexByte("/?#:@", rest[0]) >= 0 {
		return ""
	}
	foreign := false
	for i := range len(rest) {
		switch b := rest[i]; {
		case b <= ' ', b == 0x7f, b == '"', b == '<', b == '>', b == '\\', b == '|':
			return ""
		case b >= 0x80:
			foreign = true
		}
	}
	if foreign {
		url = percentEncoded(url)
	}
	if len(url) > maxURL {
		return ""
	}
	return url
}

// percentEncoded makes an address of an internationalized one (RFC 3987, 3.1).
func percentEncoded(url string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(url) {
		if c := url[i]; c >= 0x80 {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
