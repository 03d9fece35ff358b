package notify

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"outrigger/internal/fault"
	"outrigger/internal/identity"
)

// Level says whom a rule concerns. It follows from the rule's keys.
type Level string

const (
	Global          Level = "GLOBAL"     // every project of the connection
	ProjectLevel    Level = "PROJECT"    // one project, all its repositories
	RepositoryLevel Level = "REPOSITORY" // one repository
)

// Format is how a channel wants its messages.
type Format string

const (
	Auto  Format = "auto"  // Slack for hooks.slack.com, Teams for everything else
	Teams Format = "teams" // an Adaptive Card in the workflow's message envelope
	Slack Format = "slack" // blocks of an incoming webhook
)

var formats = []Format{Auto, Teams, Slack}

// Known reports whether f is one of the formats.
func (f Format) Known() bool { return slices.Contains(formats, f) }

// Limits of a rule.
const (
	MaxName    = 255  // characters, as the seed's forms have it
	maxEntries = 1000 // names, branches or keys in one list: more is a mask's work
	// maxGroups is for groups: the platform is asked about each of them for every
	// user who causes an event, and throttles an account that asks too much.
	maxGroups = 50
)

// What may belong to one project or repository, of those who administer it. Rules
// of all channels take part in the commit of an event, and a report asks the
// platform for up to 5,000 pull requests: a place with more would slow down what
// everyone else gets.
const (
	MaxRulesAt   = 500
	MaxReportsAt = 100
)

// Rule says which events go to one channel. Members that have a name in JSON are
// fields of its form.
type Rule struct {
	ID      int64
	Version int64  `json:"version"` // counts saves; starts at 1
	Name    string `json:"name"`

	// Connection is the platform whose events the rule looks at; the keys
	// narrow it to a project or a repository and are fixed once saved.
	Connection    string `json:"connection"`
	ProjectKey    string `json:"projectKey"`
	RepositoryKey string `json:"repositoryKey"`

	ChannelID   int64
	ChannelName string         `json:"channelName"` // what the rule calls the channel; "": as the channel is called
	Format      Format         `json:"format"`      // auto: the channel's
	Choice      *ChannelChoice // of a draft: where it is to send; nil: as its webhook URL says

	Filter
	Options
	Enabled bool `json:"enabled"`

	// AuthorizationID is the account of the cloud platform with which a rule of
	// the cloud edition was last saved, 0 for other rules. Paused: that account
	// was revoked here, and the rule takes nothing until it is given again.
	AuthorizationID int64
	Paused          bool

	// MaskFailures are of the masks that it has now.
	MaskFailures []MaskFailure

	CreatedBy string
	CreatedAt time.Time
	UpdatedBy string
	UpdatedAt time.Time
}

// repository is the one that a rule of the repository level belongs to.
func (r *Rule) At() RepositoryRef { return RepositoryRef{r.ProjectKey, r.RepositoryKey} }

// Level of the rule, by its keys.
func (r *Rule) Level() Level {
	switch {
	case r.RepositoryKey != "":
		return RepositoryLevel
	case r.ProjectKey != "":
		return ProjectLevel
	}
	return Global
}

// ResolveFormat is the format of messages to webhookURL's host.
func (f Format) ResolveFormat(host string) Format {
	switch {
	case f != Auto && f != "":
		return f
	case strings.EqualFold(host, "hooks.slack.com"):
		return Slack
	}
	return Teams
}

// Else is the format, or where that is auto, that of the channel.
func (f Format) Else(channel Format) Format {
	if f == Auto || f == "" {
		return channel
	}
	return f
}

// Validate names every wrong member at once: fault.Invalid, or nil.
// The webhook URL is judged by the store, which alone sees it.
func (r *Rule) Validate() error {
	var f fault.Fields
	checkTitles(&f, "rule", r.Name, r.ChannelName)
	if r.ProjectKey == "" && r.RepositoryKey != "" {
		f.Add("repositoryKey", "A repository needs its projectKey too.")
	}
	ValidateKey(&f, "projectKey", r.ProjectKey)
	ValidateKey(&f, "repositoryKey", r.RepositoryKey)
	if !r.Format.Known() {
		f.Add("format", "%q is not a format; use auto, teams or slack.", r.Format)
	}
	if len(r.EventTypes) == 0 {
		f.Add("eventTypes", "Select at least one event type.")
	}
	r.validateCommitStatus(&f)
	r.validateBranches(&f)
	r.validateNarrowing(&f)
	r.validatePeople(&f)
	r.validateSense(&f)
	r.validateQuietHours(&f)
	return f.Err()
}

func fits(key string) bool { return utf8.RuneCountInString(key) <= MaxName }

// checkTitles judges the name of a rule or report, and of its channel.
func checkTitles(f *fault.Fields, of, name, channel string) {
	switch n := utf8.RuneCountInString(name); {
	case strings.TrimSpace(name) == "":
		f.Add("name", "Give the %s a name of 1 to %d characters.", of, MaxName)
	case n > MaxName:
		f.Add("name", "The name has %d characters; at most %d are allowed.", n, MaxName)
	}
	if utf8.RuneCountInString(channel) > MaxName {
		f.Add("channelName", "At most %d characters are allowed.", MaxName)
	}
}

// ValidateKey refuses what no platform has as a key, since a rule for it would
// never take an event.
func ValidateKey(f *fault.Fields, field, key string) {
	switch {
	case !fits(key):
		f.Add(field, "A key has at most %d characters.", MaxName)
	case strings.ContainsFunc(key, func(c rune) bool { return unicode.IsSpace(c) || unicode.IsControl(c) || c == '/' }):
		f.Add(field, "%q is not a key: keys have no spaces and no slashes.", key)
	case key == "." || key == "..": // which lead elsewhere in the address of a REST API
		f.Add(field, "%q is not a key.", key)
	}
}

// Access is the permission that a rule of this level needs, and where.
func (r *Rule) Access() (identity.Permission, identity.Resource) {
	switch r.Level() {
	case RepositoryLevel:
		return identity.RepoAdmin, identity.Resource{Connection: r.Connection, Project: r.ProjectKey, Repository: r.RepositoryKey}
	case ProjectLevel:
		return identity.ProjectAdmin, identity.Resource{Connection: r.Connection, Project: r.ProjectKey}
	}
	return identity.Admin, identity.Resource{}
}
