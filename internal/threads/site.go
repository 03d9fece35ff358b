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
