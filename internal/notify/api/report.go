package api

import (
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
	"outrigger/internal/rest"
)

// Report is an activity report.
type Report struct {
	ID            int64         `json:"id" min:"0" doc:"0 or absent creates a report."`
	Version       int64         `json:"version" doc:"Counts saves. A stale one is answered with 409; without it, every save is accepted."`
	Name          string        `json:"name" max:"255" doc:"1 to 255 characters; need not be unique."`
	Connection    string        `json:"connection" doc:"Which platform; not needed when there is only one. Fixed once saved."`
	ProjectKey    string        `json:"projectKey"`
	RepositoryKey string        `json:"repositoryKey" doc:"The repository's slug. Fixed once saved."`
	WebhookURL    string        `json:"webhookUrl,omitempty"`
	ChannelName   string        `json:"channelName,omitempty" max:"255"`
	Channel       string        `json:"channel,omitempty"`
	ChannelState  *RuleChannel  `json:"channelState,omitempty" doc:"How the channel fares."`
	Format        notify.Format `json:"format" enum:"auto,teams,slack" default:"auto"`

	notify.ReportContent
	notify.ReportSchedule
	Enabled *bool `json:"enabled" default:"true" doc:"Whether it is sent when it is due."`

	NextRunAt     time.Time         `json:"nextRunAt,omitzero" readonly:"true" doc:"Absent while it is disabled."`
	LastRunAt     time.Time         `json:"lastRunAt,omitzero" readonly:"true" doc:"When the last run ended, with a message or without."`
	LastOutcome   notify.RunOutcome `json:"lastOutcome,omitempty" readonly:"true" enum:"delivered,waiting,failed,cancelled"`
	LastDelivery  int64             `json:"lastDelivery,omitempty" readonly:"true"`
	LastError     string            `json:"lastError,omitempty" readonly:"true"`
	LastErrorAt   time.Time         `json:"lastErrorAt,omitzero" readonly:"true" doc:"When that was."`
	RetryingSince time.Time         `json:"retryingSince,omitzero" readonly:"true"`

	Saved
	Warnings []Warning `json:"warnings,omitempty" readonly:"true" doc:"What looks like a mistake."`
}

// MemberWords are those of the members that need more than a few.
func (Report) MemberWords() map[string]string {
	return map[string]string{
		"projectKey": "Fixed once saved; a user's own project is `~name`.",
		"webhookUrl": "Where the report goes; it is read back masked. Leaving it out, or sending back the report's own mask, keeps the " +
			"stored one.",
		"channel": whichChannel, "channelName": whatChannelIsCalled, "format": whichFormat,
		"inactivityDays":   "From 1 to 365. A pull request is inactive after this many whole days (24 h each) without an update.",
		"frequency":        "`DAILY`, `WEEKLY` (on `day`) or `WORKING_DAY` (Monday to Friday).",
		"day":              "`MONDAY` to `SUNDAY`; of a weekly report alone.",
		"targetBranchMask": "A Java regular expression that the whole target branch must match.",
		"mentionReviewers": "Mentions the reviewers who have not approved and have an account in the chat.",
		"time": "When it is sent, `HH:MM`. A time that does not exist on the day the clocks go forward is moved to the moment of the " +
			"change; of one that comes twice, the first counts.",
		"lastOutcome": "The outcome of the last run: that of its message, or `failed` if the platform did not answer. `cancelled` is one " +
			"that a newer report replaced, or a person cancelled. Absent before the first run and where that is no longer " +
			"kept (`retention.deliveries`).",
		"lastDelivery": "The delivery of the last run; absent if it made none or that is no longer kept.",
		"lastError": "Why the last run failed, in the words of the chat (as for `answer` of a delivery's attempts) or of the platform; " +
			"absent if it did not.",
		"retryingSince": "Since when the platform has not answered; it is asked again every minute for an hour.",
	}
}

// reportDraft is a report that need not be saved.
type reportDraft struct {
	Report `requires:""`
	Wrong  fault.Fields `json:"-"`
}

// report is the draft, without its webhook URL; what is wrong in itself is noted.
func (in *reportDraft) report() notify.Report {
	if in.ID < 0 {
		in.Wrong.Add("id", "Give a positive number. To create a report, leave it out.")
	}
	r := notify.Report{
		ID: max(in.ID, 0), Version: in.Version, Name: in.Name,
		Connection: in.Connection, ProjectKey: in.ProjectKey, RepositoryKey: in.RepositoryKey,
		ChannelName: in.ChannelName, Format: formatOf(in.Format), Choice: &notify.ChannelChoice{Channel: in.Channel},
		ReportContent: in.ReportContent, ReportSchedule: in.ReportSchedule, Enabled: in.Enabled == nil || *in.Enabled,
	}
	r.Frequency, r.Day = notify.Frequency(rest.Key(string(r.Frequency))), rest.Key(r.Day)
	return r
}

func (a *API) reportOf(info notify.ReportInfo) Report {
	r := &info.Report
	failure, failedAt := info.LastFailure()
	return Report{
		ID: r.ID, Version: r.Version, Name: r.Name, Connection: r.Connection, ProjectKey: r.ProjectKey, RepositoryKey: r.RepositoryKey,
		WebhookURL: info.Channel.Mask, ChannelName: r.ChannelName, Channel: info.Channel.Fingerprint,
		ChannelState: ruleChannelOf(&info.Channel, a.Clock()), Format: r.Format,
		ReportContent: r.ReportContent, ReportSchedule: r.ReportSchedule, Enabled: &r.Enabled,
		NextRunAt: info.NextRunAt, LastRunAt: info.LastRunAt, LastOutcome: info.LastOutcome(),
		LastDelivery: info.LastDelivery.ID, LastError: failure, LastErrorAt: failedAt, RetryingSince: info.RetryingSince,
		Saved: Saved{r.CreatedBy, r.CreatedAt, r.UpdatedBy, r.UpdatedAt}, Warnings: reportWarnings(&info),
	}
}

func reportWarnings(info *notify.ReportInfo) (all []Warning) {
	for _, w := range info.Warnings() {
		all = append(all, Warning{w.Name, w.Message})
	}
	if info.Unchecked != "" {
		all = append(all, Warning{"repositoryKey", info.Unchecked})
	}
	if info.Caution != "" {
		all = append(all, Warning{"webhookUrl", info.Caution})
	}
	return all
}
