package notify

import (
	"encoding/json"
	"strings"
	"time"
)

// MemberLabel returns what the forms of the console call a member, or the member itself
// if no form has it.
func MemberLabel(member string) string {
	if label := memberLabels[member]; label != "" {
		return label
	}
	return member
}

// memberLabels has the labels of the members of rules, reports, channels and connections.
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

	// Of rules of the cloud edition.
	expectedEvents:            "Events",
	"destinationBranchFilter": "Destination branch filter",
	"expectedCommitStatus":    "Expected commit status",
	"authorization":           "Authorisation",

	"sharedWith": "Who else may choose this channel",

	// Of activity reports.
	"inactivityDays":   "Days without activity",
	"frequency":        "Frequency",
	"day":              "Day",
	"time":             "Time",
	"timeZone":         "Time zone",
	"skipDrafts":       "Leave out drafts",
	"targetBranchMask": "Target branch mask",

	// Of connections.
	"baseUrl":           "Base URL",
	"user":              "User",
	"token":             "Token or password",
	"manageWebhooks":    "Create webhooks",
	"oauthClientId":     "OAuth client key",
	"oauthClientSecret": "OAuth client secret",

	// Where a rule belongs.
	"connection":    "Connection",
	"projectKey":    "Project",
	"repositoryKey": "Repository",
}

// MemberInWords writes the value of a member, as JSON, the way people read it.
func MemberInWords(member, value string) string {
	switch value {
	case "", "null":
		return "nothing"
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	var text string
	if json.Unmarshal([]byte(value), &text) == nil {
		return text
	}
	var quiet QuietHours
	if member == "quietHours" && json.Unmarshal([]byte(value), &quiet) == nil {
		return quiet.inWords()
	}
	var refs []RepositoryRef
	if member == "repositories" && json.Unmarshal([]byte(value), &refs) == nil {
		var keys []string
		for _, ref := range refs {
			keys = append(keys, ref.ProjectKey+"/"+ref.RepositoryKey)
		}
		return strings.Join(keys, ", ")
	}
	var names []string
	if json.Unmarshal([]byte(value), &names) != nil {
		return value
	}
	if member == "eventTypes" || member == "expectedEvents" {
		for i, key := range names {
			if t, ok := ParseEventType(key); ok {
				names[i] = t.Name()
			}
		}
	}
	return strings.Join(names, ", ")
}

func (q *QuietHours) inWords() string {
	words := q.From + " to " + q.To + ", " + q.TimeZone
	if len(q.Days) > 0 {
		days := make([]string, len(q.Days))
		for i, d := range q.Days {
			days[i] = time.Weekday(d).String()
		}
		words += "; begin on " + strings.Join(days, ", ")
	}
	if len(q.Urgent) > 0 {
		names := make([]string, len(q.Urgent))
		for i, t := range q.Urgent {
			names[i] = t.Name()
		}
		words += "; sent at once: " + strings.Join(names, ", ")
	}
	return words
}
