package card

import (
	"strconv"
	"strings"

	"outrigger/internal/notify"
)

func appendThing(b []byte, e *notify.Event, t thing) []byte {
	b = append(b, ' ')
	switch t {
	case place:
		b = append(b, where(e)...)
	case branch:
		b = append(b, line(e.Branch, maxName)...)
	case pullRequest:
		b = appendPullRequest(b, e.PullRequest)
	case commit:
		b = append(b, "commit"...)
		if e.Comment != nil && e.Comment.Commit != "" {
			b = append(b, ' ')
			b = append(b, short(e.Comment.Commit)...)
		}
	case issue:
		if name := line(factOf(e, "Issue"), maxTitle); name != "" {
			b = append(b, "issue "...)
			b = append(b, name...)
		} else {
			b = append(b, "an issue"...)
		}
	default:
		b = b[:len(b)-1]
	}
	return b
}

func appendPullRequest(b []byte, p *notify.PullRequest) []byte {
	if p == nil {
		return append(b, "a pull request"...)
	}
	if p.Draft {
		b = append(b, "draft "...)
	}
	b = append(b, "pull request #"...)
	b = strconv.AppendInt(b, p.ID, 10)
	if title := line(p.Title, maxTitle); title != "" {
		b = append(b, " “"...)
		b = append(b, title...)
		b = append(b, "”"...)
	}
	return b
}

// appendBuild says what became of a build.
func appendBuild(b []byte, e *notify.Event, s sentence) []byte {
	word, verb := "Build", s.verb
	if s.thing == pipeline {
		word = "Pipeline"
	}
	name, of := "", ""
	if x := e.Build; x != nil {
		if name = x.Name; name == "" {
			name = x.Key
		}
		if verb == "" {
			verb, _ = buildState(x.State)
		}
	}
	if verb == "" {
		verb = "has a new state"
	}
	name = line(name, maxTitle)
	if s.thing == pipeline && strings.HasPrefix(name, "Pipeline #") { // "Pipeline #4 for main", as the platform calls it
		word = name
		if before, after, found := strings.Cut(name, " for "); found {
			word, of = before, " for "+after
		}
		name = ""
	}
	b = append(b, word...)
	if name != "" {
		b = append(b, " “"...)
		b = append(b, name...)
		b = append(b, "”"...)
	}
	b = append(b, ' ')
	b = append(b, verb...)
	return append(b, of...)
}

// buildState says a build's state in words, and what sort of news it is.
func buildState(state string) (string, Kind) {
	switch state {
	case "SUCCESSFUL":
		return "succeeded", Good
	case "FAILED":
		return "failed", Bad
	case "INPROGRESS":
		return "is in progress", Info
	case "STOPPED", "CANCELLED":
		return "was stopped", Warning
	}
	return "has a new state", Neutral
}
