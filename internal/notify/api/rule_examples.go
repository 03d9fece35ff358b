package api

import (
	"net/http"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// savedAt is when the rules of the examples were saved first.
var savedAt = time.Date(2026, 2, 3, 9, 12, 44, 0, time.UTC)

// exampleRule is a rule of the self-hosted edition that was saved once.
var exampleRule = Rule{
	ID: 7, Version: 1, Name: "Releases", Level: notify.Global, Connection: "main",
	WebhookURL: "https://example.westeurope.logic.azure.com/…/invoke?…sig=••••", ChannelName: "Release announcements",
	Channel: "5f1c2a9be04d7731", ChannelState: &RuleChannel{State: "open"}, Format: notify.Auto, EventTypes: []string{"TAG_CREATED"},
	Filter: notify.Filter{BranchMask: "v[0-9].*"}, Enabled: new(true),
	Saved: Saved{"admin", savedAt, "admin", savedAt},
}

// exampleList is that rule when it was saved again.
func exampleList() []Rule {
	r := exampleRule
	r.Version, r.UpdatedBy, r.UpdatedAt = 2, "ada", time.Date(2026, 2, 5, 16, 1, 0, 0, time.UTC)
	return []Rule{r}
}

// ofMain is the filter of exampleRepositoryRule.
var ofMain = notify.Filter{Branches: []string{"main"}, IgnoredUsers: []string{"ci-robot"}}

var exampleRepositoryRule = Rule{
	ID: 8, Version: 1, Name: "Pull requests of the API", Level: notify.RepositoryLevel, Connection: "main",
	ProjectKey: "ALPHA", RepositoryKey: "api",
	WebhookURL: "https://hooks.slack.com/…", Channel: "90ab12cd34ef5678", ChannelState: &RuleChannel{State: "open"}, Format: notify.Auto,
	EventTypes: []string{"PULL_REQUEST_OPENED", "PULL_REQUEST_MERGED"}, Filter: ofMain,
	Enabled: new(true), Saved: Saved{"admin", savedAt, "admin", savedAt},
}

const (
	exampleTeams = "https://example.westeurope.logic.azure.com" +
		"/workflows/0a1b/triggers/manual/paths/invoke?api-version=2016-06-01&sig=c2lnbmF0dXJl"
	noAddress = "Give the whole webhook URL; a new rule has none to keep."
)

func draftOf(r Rule) ruleDraft { return ruleDraft{Rule: r} }

var exampleSaves = []rest.Example[saveRule, rest.Answer[Rule]]{
	{
		Name: "global",
		In: saveRule{ruleDraft: draftOf(Rule{
			Name: "Releases", WebhookURL: exampleTeams, ChannelName: "Release announcements",
			EventTypes: []string{"TAG_CREATED"}, Filter: notify.Filter{BranchMask: "v[0-9].*"},
		})},
		Out: &rest.Answer[Rule]{Status: http.StatusCreated, Body: exampleRule},
	},
	{
		Name: "repository",
		In: saveRule{ruleDraft: draftOf(Rule{
			Name: "Pull requests of the API", ProjectKey: "ALPHA", RepositoryKey: "api",
			WebhookURL: "https://hooks.slack.com/services/T0000/B0000/c2VjcmV0",
			EventTypes: []string{"PULL_REQUEST_OPENED", "PULL_REQUEST_MERGED"}, Filter: ofMain,
		})},
		Out: &rest.Answer[Rule]{Status: http.StatusCreated, Body: exampleRepositoryRule},
	},
	{
		Name: "incomplete",
		In:   saveRule{ruleDraft: draftOf(Rule{Name: " ", EventTypes: []string{"NO_SUCH_EVENT"}})},
		Err: fault.Fields{
			{Name: "eventTypes", Message: `"NO_SUCH_EVENT" is not an event type; GET /rest/mtbs/1.0/configuration/eventTypes lists them.`},
			{Name: "name", Message: "Give the rule a name of 1 to 255 characters."}, {Name: "webhookUrl", Message: noAddress},
		}.Err(),
	},
}

// noCloud is what a server without a connection of the cloud edition answers.
var noCloud = fault.InvalidField("connection",
	"There is no connection of the cloud edition. Rules of the self-hosted edition are at /rest/mtbs/1.0/configuration/filter.")

var exampleCloudRule = CloudRule{
	ID: 12, Version: 1, Name: "Broken builds", Connection: "cloud", Workspace: "atlas", Repository: "engine",
	WebhookURL: "https://example.westeurope.logic.azure.com/…/invoke?…sig=••••", ChannelName: "Engine builds",
	Channel: "5f1c2a9be04d7731", ChannelState: &RuleChannel{State: "open"}, Format: notify.Auto,
	DestinationBranchFilter: "^main$|^release/",
	ExpectedEvents:          []string{"BUILD_STATUS_SET", "PIPELINE_FAILED"}, ExpectedCommitStatus: "FAILURE",
	Enabled: new(true), Saved: Saved{"ada", savedAt, "ada", savedAt},
}

var exampleCloudDraft = cloudDraft{CloudRule: CloudRule{
	Name: "Broken builds", WebhookURL: exampleTeams, ChannelName: "Engine builds", DestinationBranchFilter: "^main$|^release/",
	ExpectedEvents: []string{"BUILD_STATUS_SET", "PIPELINE_FAILED"}, ExpectedCommitStatus: "FAILURE",
}}
