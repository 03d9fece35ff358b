package pages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/console"
	"outrigger/internal/notify"
	"outrigger/internal/notify/answer"
)

// ruleRow is a rule in the list.
type ruleRow struct {
	*notify.RuleInfo
	Path      string // of its page
	Duplicate string // the form of a copy
	Place     string
	Only      string // the projects and repositories to which its filters limit it
	Events    string // in words that fit a row
	Types     string // each by its name
	Branches  string
	State     console.Badge
	Detail    string
	Waiting   string // how many messages wait for the rule; "": none
	// LastBadge is the state of the last message; its text is "" where there is none.
	LastBadge console.Badge
	Trouble   bool // State says more than whether the rule is enabled
}

// Cause is why the rule's channel is not well, in a row of a list.
func (r ruleRow) Cause() string { return answer.Brief(r.Detail) }

// ruleWhere is where the events of a rule come from: with its connection, where there are several.
func ruleWhere(r *notify.Rule, several bool) string {
	var where []string
	if several {
		where = append(where, r.Connection)
	}
	switch r.Level() {
	case notify.RepositoryLevel:
		where = append(where, r.ProjectKey, r.RepositoryKey)
	case notify.ProjectLevel:
		where = append(where, r.ProjectKey)
	default:
		where = append(where, everyProject)
	}
	return strings.Join(where, " / ")
}

func ruleRowOf(info *notify.RuleInfo, edition notify.Edition, now time.Time) ruleRow {
	row := ruleRow{RuleInfo: info, Events: grouped(info.EventTypes, edition), Types: summaryOf(info.EventTypes)}
	var only sayings
	only.lines("projects", info.Projects)
	only.lines("repositories", repositoryLines(info.Repositories))
	row.Only = strings.Join(only, "; ")
	switch {
	case info.BranchMask != "":
		row.Branches = info.BranchMask
	case len(info.Branches) > 0:
		row.Branches = count(info.Branches)
	case info.DestinationBranchFilter != "":
		row.Branches = info.DestinationBranchFilter
	}
	row.State, row.Detail = ruleBadge(info, now)
	if n := info.Backlog.Waiting; n > 0 {
		row.Waiting = atLeast(n, info.Backlog.More) + " waiting"
	}
	if info.Last.State != "" {
		row.LastBadge = deliveryBadge(info.Last.State)
	}
	row.Trouble = row.State.Text != "enabled" && row.State.Text != "disabled"
	return row
}

// atLeast writes a number that may be more.
func atLeast(n int, more bool) string {
	if more {
		return "at least " + strconv.Itoa(n)
	}
	return strconv.Itoa(n)
}

// ruleBadge says how a rule fares: disabled, or as its channel does.
func ruleBadge(info *notify.RuleInfo, now time.Time) (console.Badge, string) {
	standing, channel := info.Channel.Status(now), channelBadge(&info.Channel, now)
	channel.Text = "channel " + channel.Text
	switch {
	case standing.State == "broken":
		return channel, standing.Reason
	case !info.Enabled:
		return console.Badge{Tone: console.Quiet, Text: "disabled"}, ""
	case info.Paused:
		return console.Badge{Tone: console.Bad, Text: "paused"}, "Its account " + info.Account.Name + " was revoked. It takes nothing " +
			"until the account is authorised again."
	case standing.State != string(notify.Open):
		return channel, standing.Reason
	case info.MaskError() != "":
		return console.Badge{Tone: console.Warn, Text: "mask too slow"}, info.MaskError()
	}
	return console.Badge{Tone: console.Good, Text: "enabled"}, ""
}

func summary(types []notify.EventType) string {
	switch {
	case len(types) == 0: // of a filter that cannot be read
		return "none"
	case len(types) == 1:
		return types[0].Name()
	case len(types) == len(notify.EventTypes()):
		return "every event type"
	}
	return types[0].Name() + " and " + strconv.Itoa(len(types)-1) + " more"
}

// groupsFit is how many letters of grouped fit a row.
const groupsFit = 54

// grouped says several types by the groups that an edition's are shown in, and how many of each;
// of more than fit, the first two.
func grouped(types []notify.EventType, edition notify.Edition) string {
	if len(types) < 2 {
		return summary(types)
	}
	var said []string
	left := false
	for _, g := range eventGroups(edition) {
		n := 0
		for _, o := range g.Options {
			if slices.ContainsFunc(types, func(t notify.EventType) bool { return t.String() == o.Value }) {
				n++
			}
		}
		left = left || n < len(g.Options)
		if n > 0 {
			said = append(said, fmt.Sprintf("%s (%d)", strings.ToLower(g.Label), n))
		}
	}
	switch {
	case len(said) == 0: // of the other edition: the connection of the file was of another kind
		return summary(types)
	case !left:
		return "every event type"
	}
	all := strings.Join(said, ", ")
	if more := len(said) - 2; more > 0 && len(all) > groupsFit {
		all = strings.Join(said[:2], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.ToUpper(all[:1]) + all[1:]
}

func count(names []string) string {
	if len(names) <= 2 {
		return strings.Join(names, ", ")
	}
	return names[0] + " and " + strconv.Itoa(len(names)-1) + " more"
}
