package pages

import (
	"strings"

	"outrigger/internal/console"
)

// reportSections are the fields of each section of the form of a report.
var reportSections = map[string][]string{
	"what": {"connection", "repository", "inactivityDays", "skipDrafts", "targetBranchMask"},
	"when": {"frequency", "day", "time", "timeZone"},
	"whom": {"channel", "webhookUrl", "channelName", "format", "mentionReviewers", "enabled"},
}

// Section is a section of the form: open where something in it is wrong, and for
// a new report.
func (f reportForm) Section(id, title string) console.Section {
	s := console.Section{ID: id, Title: title, Open: f.Stored == nil || f.Wrong(reportSections[id]...)}
	switch id {
	case "what":
		s.Chosen = f.chosenPullRequests()
	case "when":
		schedule := scheduleOf(f.Form)
		s.Chosen = scheduleText(schedule) + " " + schedule.TimeZone
	case "whom":
		s.Chosen = f.chosenChannel()
	}
	return s
}

func (f reportForm) chosenPullRequests() string {
	repository := f.Get("repository")
	if f.Stored != nil {
		repository = f.Stored.ProjectKey + "/" + f.Stored.RepositoryKey
	}
	said := sayings{repository, f.Get("inactivityDays") + " days without activity"}
	if f.Bool("skipDrafts") {
		said = append(said, "no drafts")
	}
	said.text("target branches like", f.Get("targetBranchMask"))
	return strings.Join(said, "; ")
}

func (f reportForm) chosenChannel() string {
	said := sayings{chosenURL(f.Form, f.Mask)}
	if f.Bool("mentionReviewers") {
		said = append(said, "mentions reviewers")
	}
	if !f.Bool("enabled") {
		said = append(said, "disabled")
	}
	return strings.Join(said, "; ")
}
