package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/notify"
)

// The time zone of the server is a name that every node and the next release
// know, however the machine says it.
func TestServerZone(t *testing.T) {
	link := filepath.Join(t.TempDir(), "localtime")
	if err := os.Symlink("../usr/share/zoneinfo/Asia/Kolkata", link); err != nil {
		t.Fatal(err)
	}
	for tz, want := range map[string]string{
		"Europe/Berlin": "Europe/Berlin", ":America/St_Johns": "America/St_Johns", "UTC": "UTC",
		"": "UTC", "Local": "UTC", "Mars/Olympus": "UTC", "EST5EDT,M3.2.0,M11.1.0": "UTC", "right/Europe/Berlin": "UTC", "/etc/shadow": "UTC", "/no/such/file": "UTC",
		":/usr/share/zoneinfo/Australia/Lord_Howe": "Australia/Lord_Howe", "/usr/share/zoneinfo/posix/Europe/Berlin": "Europe/Berlin",
		":" + link: "Asia/Kolkata", link: "Asia/Kolkata",
	} {
		t.Setenv("TZ", tz)
		if got := serverZone(); got != want {
			t.Errorf("TZ=%s: %s, want %s", tz, got, want)
		}
	}
}

// listing answers in its own words.
type listing string

func (l listing) OpenPullRequests(_ context.Context, c *notify.Connection, at notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
	return nil, errors.New(string(l) + " " + c.Name + " " + at.ProjectKey)
}

// A report asks its connection's own edition, and leads to its pages.
func TestReportsOfEachEdition(t *testing.T) {
	at := notify.RepositoryRef{ProjectKey: "at las", RepositoryKey: "engine"}
	for kind, want := range map[string][2]string{
		"bitbucket-dc":            {"own", "https://git.example.com/scm/projects/at%20las/repos/engine/pull-requests"},
		notify.KindBitbucketCloud: {"cloud", "https://git.example.com/scm/at%20las/engine/pull-requests/"},
	} {
		c := &notify.Connection{Name: "main", Kind: kind, BaseURL: "https://git.example.com/scm/"}
		if _, err := (listers{listing("own"), listing("cloud")}).OpenPullRequests(t.Context(), c, at); err == nil || !strings.HasPrefix(err.Error(), want[0]+" main at las") {
			t.Errorf("%s: asked %v", kind, err)
		}
		if got := pullRequestsPage(c, at); got != want[1] {
			t.Errorf("%s: %s", kind, got)
		}
	}
}

// A report that is tried out says so in every format, in its title.
func TestTheMessageOfAReportThatIsTriedOut(t *testing.T) {
	e := &notify.Event{Key: notify.ReportKey, Report: &notify.Activity{Name: "Stale pull requests", Open: 2, InactivityDays: 7}}
	for _, f := range []notify.Format{notify.Teams, notify.Slack} {
		if got := string(testReport(e, f)); !strings.Contains(got, "Test: ") || strings.Count(got, "Test: ") > 2 {
			t.Errorf("%s: %s", f, got)
		}
	}
}
