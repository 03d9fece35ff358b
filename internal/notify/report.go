package notify

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/notify/branchmask"
	"outrigger/internal/secret"
)

// maxInactivityDays is how many days a report may ask pull requests to be
// inactive for.
const maxInactivityDays = 365

// Report is an activity report: at set times it tells a channel how many pull
// requests of a repository are open, and which of them are inactive. Members that have
// a name in JSON are fields of its form.
type Report struct {
	ID      int64
	Version int64  `json:"version"` // counts saves; starts at 1
	Name    string `json:"name"`

	// Where the pull requests are; fixed once saved.
	Connection    string `json:"connection"`
	ProjectKey    string
	RepositoryKey string

	ChannelID   int64
	ChannelName string         `json:"channelName"` // what the report calls the channel; "": as the channel is called
	Format      Format         `json:"format"`      // auto: the channel's
	Choice      *ChannelChoice // as of a Rule

	ReportContent
	ReportSchedule
	Enabled bool `json:"enabled"`

	CreatedBy   string
	CreatedAt   time.Time
	UpdatedBy   string
	UpdatedByID int64 // the user of UpdatedBy: on whose behalf a platform may be asked
	UpdatedAt   time.Time
}

// ReportContent decides on what a report says.
type ReportContent struct {
	// A pull request is inactive after so many whole days without an update.
	InactivityDays   int    `json:"inactivityDays" min:"0"`
	SkipDrafts       bool   `json:"skipDrafts,omitempty" default:"false" doc:"Leaves out drafts."`
	TargetBranchMask string `json:"targetBranchMask,omitempty" form:"raw"`
	// Those who have not approved, by the account mapping.
	MentionReviewers bool `json:"mentionReviewers,omitempty" default:"false"`
}

// At is the repository of the report.
func (r *Report) At() RepositoryRef {
	return RepositoryRef{ProjectKey: r.ProjectKey, RepositoryKey: r.RepositoryKey}
}

// Access is the permission that the report needs, and where.
func (r *Report) Access() (identity.Permission, identity.Resource) {
	return identity.RepoAdmin, identity.Resource{Connection: r.Connection, Project: r.ProjectKey, Repository: r.RepositoryKey}
}

// Trimmed is the report with no white space around names and keys, and in the
// default format where it has none.
func (r Report) Trimmed() Report {
	r.Name, r.Time = strings.TrimSpace(r.Name), strings.TrimSpace(r.Time)
	r.TimeZone, r.ChannelName = strings.TrimSpace(r.TimeZone), strings.TrimSpace(r.ChannelName)
	r.ProjectKey, r.RepositoryKey = strings.TrimSpace(r.ProjectKey), strings.TrimSpace(r.RepositoryKey)
	if r.Format == "" {
		r.Format = Auto
	}
	return r
}

// Validate names every wrong member at once: fault.Invalid, or nil. The webhook
// URL is judged by the store, which alone sees it.
func (r *Report) Validate() error {
	var f fault.Fields
	checkTitles(&f, "report", r.Name, r.ChannelName)
	r.ValidateContent(&f)
	r.ReportSchedule.validate(&f)
	return f.Err()
}

// ValidateContent judges what decides on what a report says.
func (r *Report) ValidateContent(f *fault.Fields) {
	r.ValidatePlace(f)
	if !r.Format.Known() {
		f.Add("format", "%q is not a format; use auto, teams or slack.", r.Format)
	}
	if r.InactivityDays < 1 || r.InactivityDays > maxInactivityDays {
		f.Add("inactivityDays", "Give a number of days from 1 to %d.", maxInactivityDays)
	}
	if r.TargetBranchMask != "" {
		if _, err := branchmask.Java(r.TargetBranchMask); err != nil {
			f.Add("targetBranchMask", "%s", err)
		}
	}
}

func (r *Report) ValidatePlace(f *fault.Fields) {
	for _, key := range []struct{ field, key string }{{"projectKey", r.ProjectKey}, {"repositoryKey", r.RepositoryKey}} {
		if key.key == "" {
			f.Add(key.field, "A report is about one repository; give its projectKey and repositoryKey.")
			continue
		}
		ValidateKey(f, key.field, key.key)
	}
}

// Warnings are what looks like a mistake in a report that may be saved all the
// same, by member.
func (r *Report) Warnings() []fault.Field {
	var f fault.Fields
	warnOfMask(&f, "targetBranchMask", SelfHosted, r.TargetBranchMask)
	return f
}

// ReportInfo is a report with its channel and its runs, as people see it.
type ReportInfo struct {
	Report
	Channel Channel

	NextRunAt time.Time // zero while it is disabled, or cannot be told
	LastRunAt time.Time // when the last run ended, with a message or without; zero: it never ran
	// LastError is why the last run brought no message; empty where it did.
	LastError    string
	LastErrorAt  time.Time
	LastDelivery ReportDelivery // of the last run
	// RetryingSince is since when the platform has not answered for the due time
	// that it is asked for again every minute; zero: it is not.
	RetryingSince time.Time

	// Unchecked says why the platform did not tell whether the repository exists;
	// set by Reports.Save for a new report.
	Unchecked string
	// Caution is what Reports.Caution found out about the webhook URL.
	Caution string
}

// Audited is what the audit trail keeps of a report: its members by their public
// names, the webhook URL masked.
func (r *ReportInfo) Audited() map[string]string {
	if r == nil {
		return nil
	}
	return map[string]string{
		"projectKey": r.ProjectKey, "repositoryKey": r.RepositoryKey, "name": r.Name,
		"webhookUrl": r.Channel.Mask, "channel": r.Channel.Fingerprint, "channelName": r.ChannelName, "format": string(r.Format),
		"inactivityDays": strconv.Itoa(r.InactivityDays), "frequency": string(r.Frequency), "day": r.Day, "time": r.Time,
		"timeZone": r.TimeZone, "skipDrafts": strconv.FormatBool(r.SkipDrafts), "targetBranchMask": r.TargetBranchMask,
		"mentionReviewers": strconv.FormatBool(r.MentionReviewers), "enabled": strconv.FormatBool(r.Enabled),
	}
}

// Present is the report's version.
func (r *ReportInfo) Present() Present { return Present{"report", r.Version, r.UpdatedBy, r.UpdatedAt} }

// CheckReportSave judges a save of a report that exists, and fills in the keys
// that the caller left out.
func CheckReportSave(r *Report, old *ReportInfo, webhookURL string) error {
	var f fault.Fields
	CheckReportPlace(&f, r, old)
	if secret.IsMask(webhookURL) && webhookURL != old.Channel.Mask {
		f.Add("webhookUrl", OtherMask)
	}
	return f.Err()
}

func CheckReportPlace(f *fault.Fields, r *Report, old *ReportInfo) {
	checkFixed(f, "report", "connection", &r.Connection, old.Connection)
	checkFixed(f, "report", "projectKey", &r.ProjectKey, old.ProjectKey)
	checkFixed(f, "report", "repositoryKey", &r.RepositoryKey, old.RepositoryKey)
}

// ReportQuery asks for the reports of one repository. Connection empty means the
// only one.
type ReportQuery struct {
	Connection    string
	ProjectKey    string
	RepositoryKey string
}

// ReportPage asks for reports, whatever their keys, by name.
type ReportPage struct {
	Connection string // only this one's; "" is every one
	Project    string // only this project's, compared without case; "" is every one
	Repository string
	Search     string // only reports with this in their name, ASCII letters without case; "" is every name
	AfterName  string // the last report of the page before, by name and id
	AfterID    int64
	Limit      int
	Visible    func(*Report) bool // reports that it refuses are passed over
}

// Called is the name of the report's channel: its own, else as the report calls it.
func (r *ReportInfo) Called() string { return cmp.Or(r.Channel.Named, r.ChannelName) }
