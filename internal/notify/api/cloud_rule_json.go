package api

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// cloudRuleJSON is a rule of the cloud edition as the API writes it, and reads
// it: its read-only members may be sent back and are ignored.
type cloudRuleJSON struct {
	ID           int64            `json:"id"`
	Version      int64            `json:"version"`
	Name         string           `json:"name"`
	Connection   string           `json:"connection"`
	Workspace    string           `json:"workspace"`
	Repository   string           `json:"repository"`
	WebhookURL   string           `json:"webhookUrl,omitempty"`
	ChannelName  string           `json:"channelName,omitempty"`
	Channel      string           `json:"channel,omitempty"`
	ChannelState *ruleChannelJSON `json:"channelState,omitempty"`
	Format       notify.Format    `json:"format"`

	DestinationBranchFilter string              `json:"destinationBranchFilter,omitempty"`
	ExpectedEvents          []string            `json:"expectedEvents"`
	ExpectedCommitStatus    notify.CommitStatus `json:"expectedCommitStatus"`
	QuietHours              *quietHoursJSON     `json:"quietHours,omitempty"`

	Enabled   *bool         `json:"enabled"`
	CreatedBy string        `json:"createdBy,omitempty"`
	CreatedAt *time.Time    `json:"createdAt,omitempty"`
	UpdatedBy string        `json:"updatedBy,omitempty"`
	UpdatedAt *time.Time    `json:"updatedAt,omitempty"`
	Warnings  []warningJSON `json:"warnings,omitempty"`
	MaskError string        `json:"maskError,omitempty"`

	AuthorizationRequired bool   `json:"authorizationRequired"`
	AuthorizeURL          string `json:"authorizeUrl,omitempty"`
}

// rule makes a draft of what was read for a repository, and notes every member
// that is wrong in itself; the rule's own validation names the rest.
func (in *cloudRuleJSON) rule(at notify.RuleQuery, f *fault.Fields) notify.Rule {
	types := eventTypesOf("eventTypes", in.ExpectedEvents, f)
	if in.ID < 0 {
		f.Add("id", "Give a positive number. To create a rule, leave it out.")
	}
	if in.Enabled != nil && !*in.Enabled {
		f.Add("enabled", "Saving a rule of the cloud edition enables it; leave this out. To switch a rule off, use PUT …/rules/enabled?id=…&enabled=false.")
	}
	r := notify.Rule{
		ID: in.ID, Version: in.Version, Name: in.Name, Connection: at.Connection, ProjectKey: at.ProjectKey, RepositoryKey: at.RepositoryKey,
		ChannelName: in.ChannelName, Format: formatOf(in.Format),
		Filter: notify.Filter{
			EventTypes:              notify.NewTypeSet(types...).Types(),
			DestinationBranchFilter: in.DestinationBranchFilter, ExpectedCommitStatus: notify.CommitStatus(rest.Key(string(in.ExpectedCommitStatus))),
		},
		Options: notify.Options{QuietHours: in.QuietHours.quietHours(f)},
		Enabled: true,
	}
	if r.Format == "" {
		r.Format = notify.Auto
	}
	return r
}

func (a *API) cloudRuleOf(ctx context.Context, info *notify.RuleInfo) cloudRuleJSON {
	r := &info.Rule
	out := cloudRuleJSON{
		ID: r.ID, Version: r.Version, Name: r.Name, Connection: r.Connection, Workspace: r.ProjectKey, Repository: r.RepositoryKey,
		WebhookURL: info.Channel.Mask, ChannelName: r.ChannelName, Channel: info.Channel.Fingerprint, ChannelState: ruleChannelOf(&info.Channel, a.Clock()),
		Format: r.Format, DestinationBranchFilter: r.DestinationBranchFilter, ExpectedEvents: typeKeys(r.EventTypes),
		ExpectedCommitStatus: r.ExpectedCommitStatus, QuietHours: quietHoursOf(r.QuietHours), Enabled: &r.Enabled,
		CreatedBy: r.CreatedBy, CreatedAt: &r.CreatedAt, UpdatedBy: r.UpdatedBy, UpdatedAt: &r.UpdatedAt, MaskError: r.MaskError(),
		AuthorizationRequired: info.AuthorizationRequired(),
	}
	for _, w := range info.Warnings() {
		out.Warnings = append(out.Warnings, warningJSON{w.Name, w.Message})
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
	var e *fault.Error
	if !errors.As(err, &e) || e.Code != fault.Invalid {
		return err
	}
	renamed := *e
	renamed.Fields = nil
	for _, f := range e.Fields {
		if name, ok := cloudNames[f.Name]; ok {
			f.Name = name
		}
		renamed.Fields = append(renamed.Fields, f)
	}
	return &renamed
}
