package pages

import "outrigger/internal/notify"

// reason is a filter that said no, as people read it.
type reason struct {
	Filter string // as the rule form calls it
	Wants  string
	Has    string // "": none
	Words  bool   // Wants and Has are words of ours, not user input
}

// reasonOf names the filter of a rule that takes events of types, and what it
// said no to.
func reasonOf(r notify.Reason, types []notify.EventType, e *notify.Event) reason {
	said := reason{Filter: memberLabels[r.Member], Wants: r.Wants, Has: r.Has}
	switch {
	case r.Member == "eventTypes" && e != nil && len(types) > 0:
		said.Wants, said.Has, said.Words = summary(types), summary(e.Types), true
	case said.Filter == "":
		said.Filter = r.Member
	}
	return said
}

// memberLabels are the members of a rule as its form calls them.
var memberLabels = map[string]string{
	"name":              "Name",
	"webhookUrl":        "Webhook URL",
	"channelName":       "Channel name",
	"format":            "Format",
	"enabled":           "Enabled",
	"mentionReviewers":  "Mention reviewers",
	"quietHours":        "Quiet hours",
	"eventTypes":        "Events",
	"branches":          "Branches",
	"branchMask":        "Branch mask",
	"ignoredBranchMask": "Never these branches",
	"sourceBranchMask":  "Source branch mask",
	"projects":          "Only these projects",
	"repositories":      "Only these repositories",
	"users":             "Only events of these users",
	"ignoredUsers":      "Never events of these users",
	"groups":            "Only events of members of these groups",
	"ignoredGroups":     "Never events of members of these groups",
	"reviewers":         "Only pull requests with one of these reviewers",
}
