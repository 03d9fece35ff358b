package notify

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
