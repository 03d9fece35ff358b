package api

import (
	"cmp"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// Rule is a rule of the self-hosted edition.
type Rule struct {
	ID            int64         `json:"id" min:"0" doc:"0 or absent creates a rule."`
	Version       int64         `json:"version" doc:"Counts saves. A stale one is answered with 409; without it, every save is accepted."`
	Name          string        `json:"name" max:"255" doc:"1 to 255 characters; need not be unique."`
	Level         notify.Level  `json:"level" readonly:"true" enum:"GLOBAL,PROJECT,REPOSITORY" doc:"Whose events it takes."`
	Connection    string        `json:"connection" doc:"Which platform; not needed when there is only one. Fixed once saved."`
	ProjectKey    string        `json:"projectKey,omitempty" doc:"Makes it a project's rule. Fixed once saved."`
	RepositoryKey string        `json:"repositoryKey,omitempty" doc:"With projectKey makes it a repository's rule. Fixed once saved."`
	WebhookURL    string        `json:"webhookUrl,omitempty"`
	ChannelName   string        `json:"channelName,omitempty" max:"255"`
	Channel       string        `json:"channel,omitempty"`
	ChannelState  *RuleChannel  `json:"channelState,omitempty" readonly:"true" doc:"How the channel fares."`
	Format        notify.Format `json:"format" enum:"auto,teams,slack" default:"auto"`
	EventTypes    []string      `json:"eventTypes" doc:"At least one key of eventTypes."`
	notify.Filter
	QuietHours *QuietHours `json:"quietHours,omitempty"`
	notify.Options

	// These hide those of Filter, which are of the cloud edition, as EventTypes and
	// QuietHours hide members that are written otherwise here.
	DestinationBranchFilter, ExpectedCommitStatus struct{} `json:"-"`

	Enabled *bool `json:"enabled" default:"true" doc:"Whether it takes events."`
	Saved
	Warnings  []Warning `json:"warnings,omitempty" readonly:"true"`
	MaskError string    `json:"maskError,omitempty" readonly:"true"`
}

// MemberWords describe the members with more to say.
func (Rule) MemberWords() map[string]string {
	return map[string]string{
		"webhookUrl": whereMessagesGo, "channel": whichChannel, "channelName": whatChannelIsCalled, "format": whichFormat,
		"branchMask":       "A Java regular expression (Java 17) that the whole name of the branch or tag must match. " + whenDecided,
		"sourceBranchMask": "The source branch of pull requests; as branchMask. Other events pass.",
		"groups": "Who caused the event must be in one of these groups of the platform. 400 where the connection has no account to ask " +
			"the platform with.",
		"repositories": "Narrows a global rule, or a project's to repositories of that project.",
		"mentionReviewers": "Messages about pull requests mention the reviewers who have an account in the chat, up to 10; a digest " +
			"mentions those of all its pull requests.",
		"warnings":  whatLooksWrong,
		"maskError": whatMasksCost,
	}
}

// Words of members that rules of both editions have.
const (
	whereMessagesGo = "Where the messages go; it is read back masked. Leaving it out, or sending back the rule's own mask, keeps the " +
		"stored one."
	whichChannel = "The channel: read back as the fingerprint of the whole URL; equal ones are one channel. Given as that, as one of a " +
		"URL that was replaced, or as the id of a channel, it counts where `webhookUrl` is absent or masked; it must be a channel that " +
		"you may choose."
	whatChannelIsCalled = "What the rule or report calls the channel. Empty: as the channel is called."
	whichFormat         = "`auto` is the channel's own format, and where that is `auto` too, `slack` for hooks.slack.com, else `teams`."
	whenDecided         = "Where it needs back-tracking, it is asked within a minute of the event, and the message keeps its place " +
		"meanwhile."
	whatLooksWrong = "What looks like a mistake in the rule, which holds all the same; absent where there is nothing."
	whatMasksCost  = "A mask of the rule takes too many steps on some branch names, where the message is sent without asking " +
		"it. After three times the mask is not asked any more until it is changed."
)

// Saved is who saved something, and when.
type Saved struct {
	CreatedBy string    `json:"createdBy,omitempty" readonly:"true" doc:"Who created it."`
	CreatedAt time.Time `json:"createdAt,omitzero" readonly:"true" doc:"When that was."`
	UpdatedBy string    `json:"updatedBy,omitempty" readonly:"true" doc:"Who saved it last."`
	UpdatedAt time.Time `json:"updatedAt,omitzero" readonly:"true" doc:"When that was."`
}

// Warning is what looks like a mistake in a member.
type Warning struct {
	Field   string `json:"field" doc:"The member."`
	Message string `json:"message" doc:"What looks like a mistake."`
}

// RuleChannel says how the channel of a rule fares.
type RuleChannel struct {
	State   string    `json:"state" enum:"open,waiting,unreachable,broken" doc:"How the channel fares."`
	Reason  string    `json:"reason,omitempty" doc:"Why."`
	Since   time.Time `json:"since,omitzero" doc:"Since when."`
	Until   time.Time `json:"until,omitzero" doc:"When it is tried again."`
	Waiting int       `json:"waiting" doc:"How many messages wait."`
}

// ruleDraft is a rule that need not be saved.
type ruleDraft struct {
	Rule           `requires:""`
	RepositorySlug string       `json:"repositorySlug,omitempty" doc:"Another name of repositoryKey."`
	Wrong          fault.Fields `json:"-"`
}

// rule notes every member that is wrong in itself; the rule's own validation names the
// rest.
func (in *ruleDraft) rule() notify.Rule {
	f := &in.Wrong
	types := eventTypesOf("eventTypes", in.EventTypes, f)
	if in.ID < 0 {
		f.Add("id", "Give a positive number. To create a rule, leave it out.")
	}
	if in.RepositorySlug != "" && in.RepositoryKey != "" && notify.Fold(in.RepositorySlug) != notify.Fold(in.RepositoryKey) {
		f.Add("repositorySlug", "It is another name of repositoryKey, and they differ.")
	}
	r := notify.Rule{
		ID: in.ID, Version: in.Version, Name: in.Name, Connection: in.Connection,
		ProjectKey: in.ProjectKey, RepositoryKey: cmp.Or(in.RepositoryKey, in.RepositorySlug),
		ChannelName: in.ChannelName, Format: cmp.Or(formatOf(in.Format), notify.Auto), Choice: &notify.ChannelChoice{Channel: in.Channel},
		Filter: in.Filter, Options: in.Options, Enabled: in.Enabled == nil || *in.Enabled,
	}
	r.EventTypes, r.QuietHours = notify.NewTypeSet(types...).Types(), in.QuietHours.quietHours(f)
	return r
}

func (a *API) ruleOf(info notify.RuleInfo) Rule {
	r := &info.Rule
	return Rule{
		ID: r.ID, Version: r.Version, Name: r.Name, Level: r.Level(), Connection: r.Connection,
		ProjectKey: r.ProjectKey, RepositoryKey: r.RepositoryKey, WebhookURL: info.Channel.Mask,
		ChannelName: r.ChannelName, Channel: info.Channel.Fingerprint, ChannelState: ruleChannelOf(&info.Channel, a.Clock()),
		Format: r.Format, EventTypes: notify.TypeKeys(r.EventTypes), Filter: r.Filter,
		QuietHours: quietHoursOf(r.QuietHours), Options: r.Options,
		Enabled: &r.Enabled, Saved: Saved{r.CreatedBy, r.CreatedAt, r.UpdatedBy, r.UpdatedAt},
		Warnings: warningsOf(&info), MaskError: r.MaskError(),
	}
}

func warningsOf(info *notify.RuleInfo) (all []Warning) {
	for _, w := range info.Warnings() {
		all = append(all, Warning{w.Name, w.Message})
	}
	return all
}

func ruleChannelOf(c *notify.Channel, now time.Time) *RuleChannel {
	s := c.Status(now)
	return &RuleChannel{State: s.State, Reason: s.Reason, Since: s.Since, Until: s.Until, Waiting: c.Waiting}
}
