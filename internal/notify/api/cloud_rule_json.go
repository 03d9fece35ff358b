package api

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// CloudRule is a rule of the cloud edition.
type CloudRule struct {
	ID           int64         `json:"id" min:"0" doc:"0 or absent creates a rule."`
	Version      int64         `json:"version" doc:"Counts saves. A stale one is answered with 409; without it, every save is accepted."`
	Name         string        `json:"name" max:"255" doc:"1 to 255 characters; need not be unique."`
	Connection   string        `json:"connection" readonly:"true" doc:"The platform."`
	Workspace    string        `json:"workspace" readonly:"true" doc:"The workspace's slug."`
	Repository   string        `json:"repository" readonly:"true" doc:"The repository's slug."`
	WebhookURL   string        `json:"webhookUrl,omitempty"`
	ChannelName  string        `json:"channelName,omitempty" max:"255"`
	Channel      string        `json:"channel,omitempty"`
	ChannelState *RuleChannel  `json:"channelState,omitempty" readonly:"true" doc:"How the channel fares."`
	Format       notify.Format `json:"format" enum:"auto,teams,slack" default:"auto"`

	DestinationBranchFilter string              `json:"destinationBranchFilter,omitempty"`
	ExpectedEvents          []string            `json:"expectedEvents" doc:"At least one key of eventTypes that the cloud edition has."`
	ExpectedCommitStatus    notify.CommitStatus `json:"expectedCommitStatus" enum:"SUCCESS,FAILURE,BOTH" default:"BOTH"`
	QuietHours              *QuietHours         `json:"quietHours,omitempty"`

	Enabled *bool `json:"enabled" doc:"Of a body, true or absent: a save enables the rule."`
	Saved
	Warnings  []Warning `json:"warnings,omitempty" readonly:"true"`
	MaskError string    `json:"maskError,omitempty" readonly:"true"`

	AuthorizationRequired bool   `json:"authorizationRequired" readonly:"true"`
	AuthorizeURL          string `json:"authorizeUrl,omitempty" readonly:"true" doc:"Where to authorise an account."`
}

// MemberWords describe the members with more to say.
func (CloudRule) MemberWords() map[string]string {
	return map[string]string{
		"webhookUrl": whereMessagesGo, "channel": whichChannel, "channelName": whatChannelIsCalled, "format": whichFormat,
		"destinationBranchFilter": "A JavaScript regular expression without flags that may match anywhere in the name of the event's " +
			"branch, as with `RegExp.test`: the pushed branch or tag, a pull request's target, a build's ref. An event without a branch " +
			"passes. " + whenDecided,
		"expectedCommitStatus": "Which builds are notified as `BUILD_STATUS_SET`: SUCCESSFUL is a success, FAILED and STOPPED are " +
			"failures, one in progress is neither. Events of pipelines that `expectedEvents` names are notified whatever it says.",
		"warnings":  whatLooksWrong,
		"maskError": whatMasksCost,
		"authorizationRequired": "The account with which the rule was saved is not authorised any more. If the platform withdrew it, the " +
			"rule still takes signed events; if it was revoked in Outrigger, the rule takes no events until it is authorised again.",
	}
}

// rule makes a draft of what was read for a repository, and notes every member
// that is wrong in itself; the rule's own validation names the rest.
func (in *CloudRule) rule(at notify.RuleQuery, f *fault.Fields) notify.Rule {
	types := eventTypesOf("eventTypes", in.ExpectedEvents, f)
	if in.ID < 0 {
		f.Add("id", "Give a positive number. To create a rule, leave it out.")
	}
	if in.Enabled != nil && !*in.Enabled {
		f.Add("enabled", "Saving a rule of the cloud edition enables it; leave this out. To switch a rule off, use PUT "+
			"…/rules/enabled?id=…&enabled=false.")
	}
	return notify.Rule{
		ID: in.ID, Version: in.Version, Name: in.Name,
		Connection: at.Connection, ProjectKey: at.ProjectKey, RepositoryKey: at.RepositoryKey,
		ChannelName: in.ChannelName, Format: cmp.Or(formatOf(in.Format), notify.Auto), Choice: &notify.ChannelChoice{Channel: in.Channel},
		Filter: notify.Filter{
			EventTypes:              notify.NewTypeSet(types...).Types(),
			DestinationBranchFilter: in.DestinationBranchFilter,
			ExpectedCommitStatus:    notify.CommitStatus(rest.Key(string(in.ExpectedCommitStatus))),
		},
		Options: notify.Options{QuietHours: in.QuietHours.quietHours(f)},
		Enabled: true,
	}
}

func (a *API) cloudRuleOf(ctx context.Context, info *notify.RuleInfo) CloudRule {
	r := &info.Rule
	out := CloudRule{
		ID: r.ID, Version: r.Version, Name: r.Name, Connection: r.Connection, Workspace: r.ProjectKey, Repository: r.RepositoryKey,
		WebhookURL: info.Channel.Mask, ChannelName: r.ChannelName, Channel: info.Channel.Fingerprint,
		ChannelState: ruleChannelOf(&info.Channel, a.Clock()),
		Format:       r.Format, DestinationBranchFilter: r.DestinationBranchFilter, ExpectedEvents: notify.TypeKeys(r.EventTypes),
		ExpectedCommitStatus: r.ExpectedCommitStatus, QuietHours: quietHoursOf(r.QuietHours), Enabled: &r.Enabled,
		Saved:    Saved{r.CreatedBy, r.CreatedAt, r.UpdatedBy, r.UpdatedAt},
		Warnings: warningsOf(info), MaskError: r.MaskError(),
		AuthorizationRequired: info.AuthorizationRequired(),
	}
	if out.AuthorizationRequired {
		out.AuthorizeURL = rest.Link(ctx, notify.AccountsPath)
	}
	return out
}

// withAccounts returns a refusal for want of an account the URL of the page where
// one is authorised.
func withAccounts(ctx context.Context, err error) error {
	if !errors.Is(err, notify.ErrNoAccount) {
		return err
	}
	e := *fault.As(err)
	e.Message = strings.ReplaceAll(e.Message, "under "+notify.AccountsPlace, "at "+rest.Link(ctx, notify.AccountsPath))
	return &e
}

// cloudRulePath is where a rule of the cloud edition is.
func cloudRulePath(info *notify.RuleInfo) string {
	return cloudPath + "/" + url.PathEscape(info.ProjectKey) + "/" + url.PathEscape(info.RepositoryKey) + "/rules?" +
		url.Values{"connection": {info.Connection}, "id": {strconv.FormatInt(info.ID, 10)}}.Encode()
}

// cloudNames are what the members of a rule are called here that have other
// names in rules of the self-hosted edition.
var cloudNames = map[string]string{"eventTypes": "expectedEvents", "projectKey": "workspace", "repositoryKey": "repository"}

// inCloudNames has an error call the members of a rule as they are called here.
func inCloudNames(err error) error {
	return fault.Renamed(err, func(f *fault.Field) { f.Name = cmp.Or(cloudNames[f.Name], f.Name) })
}
