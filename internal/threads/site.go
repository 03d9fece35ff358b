package threads

import (
	"net/url"
	"strings"
	"time"

	"outrigger/internal/fault"
)

// Site is a cloud site and what mappings there are for it.
type Site struct {
	ID        int64
	URL       string // as SiteURL writes it
	ChangedAt time.Time
	Kinds     []SiteKind // by entity type

	Version int64 // counts the changes of its mappings
}

// SiteKind is one entity type of a site.
type SiteKind struct {
	EntityType string
	Mappings   int64

	ID int64
}

// Mappings is how many there are of all types.
func (s *Site) Mappings() (n int64) {
	for _, k := range s.Kinds {
		n += k.Mappings
	}
	return n
}

// SiteURL returns the one way of writing a cloud site's URL: scheme and host in
// lower case, no slash at its end. False for what is no URL of a site.
func SiteURL(raw string) (string, bool) {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Hostname() == "" ||
		u.User != nil || u.RawQuery != "" || u.Fragment != "" || len(raw) > maxSiteURL {
		return "", false
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + strings.TrimRight(u.EscapedPath(), "/"), true
}

// maxSiteURL is longer than any host name with a path.
const maxSiteURL = 512

// ErrSiteURL refuses what is no URL of a cloud site.
func ErrSiteURL() error {
	return fault.InvalidField("cloudSiteUrl", "Give the URL of the cloud site, such as https://example.atlassian.net.")
}

// Sites are the cloud site that an id mappings report is for and the target that its
// ids are used on: on another site they mean other issues and comments.
type Sites struct {
	Report string `json:"report,omitempty" doc:"Absent where it was not said."` // as SiteURL writes it
	Target string `json:"target" doc:"A URL, or embedded."`
	Differ bool   `json:"differ" doc:"The report is for another site; it is loaded only with acceptOtherSite."`
	Text   string `json:"text" doc:"Both in words, and what is checked: issues are, comments are not."`
}

// SitesOf compares the site of a report, which may be "", with the target.
func SitesOf(report, target string) Sites {
	s := Sites{Report: report, Target: target}
	if target == EmbeddedTarget {
		s.Text = "The target is Outrigger's own database, which knows no issues and no comments: neither are checked."
		if report != "" {
			s.Text = "The id mappings report is for " + report + ". " + s.Text
		}
		return s
	}
	const checked = " Issues are checked on the target; comments are not."
	site, ok := SiteURL(target)
	switch {
	case report == "":
		s.Text = "The target is " + target + ". Which site the id mappings report is for is not known." + checked
	case ok && site == report:
		s.Text = "The id mappings report is for " + report + ", which is the target." + checked
	default:
		s.Differ = true
		s.Text = "The id mappings report is for " + report + ", but the target is " + target +
			", where its ids may mean other issues and comments." + checked
	}
	return s
}

// ErrDiffer refuses a report of another site.
func (s Sites) ErrDiffer() *fault.Error {
	return fault.New(fault.Conflict, "%s Send the report for the target, or load this one with acceptOtherSite=true.", s.Text)
}
