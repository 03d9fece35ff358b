package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// A report that is due is asked of the platform, sent to its channel and listed
// among the deliveries, but is no event.
func TestAReportRunsWhenItIsDue(t *testing.T) {
	a := startReported(t)
	if status, body := consolePage(t, a.App, reportPages+"/new", a.form(url.Values{"frequency": {"DAILY"}})); status != http.StatusSeeOther {
		t.Fatalf("saving: %d %s", status, body)
	}
	a.runReports(t, time.Minute)
	var posts []string
	eventually(t, func() bool { posts = append(posts, a.chat.taken()...); return len(posts) > 0 })
	if len(posts) != 1 || !strings.Contains(posts[0], "Waiting: 1 open pull request, 1 inactive") || !strings.Contains(posts[0], "idle for 40 days") {
		t.Errorf("posted %q", posts)
	}
	var list string
	eventually(t, func() bool {
		_, list = get(t, a.URL()+"/rest/mtbs/1.0/configuration/deliveries?reportId=1", asAdmin)
		return strings.Contains(list, `"delivered"`)
	})
	if !strings.Contains(list, `"rules":[]`) || !strings.Contains(list, `"reports":[1]`) || !strings.Contains(list, `"eventTypes":[]`) {
		t.Errorf("the delivery is %s", list)
	}
	if _, events := get(t, a.URL()+"/rest/mtbs/1.0/configuration/events", asAdmin); !strings.Contains(events, `"items":[]`) {
		t.Errorf("the events are %s", events)
	}
	_, page := consolePage(t, a.App, "/notifications/deliveries", nil)
	wants(t, "the list of deliveries", page, "Report Waiting", "reviews", "ATL / canoe")
	_, page = consolePage(t, a.App, "/notifications/deliveries/1", nil)
	wants(t, "the delivery", page, `/notifications/reports/1">Waiting</a>`, "idle for 40 days")
	if strings.Contains(page, "/notifications/events/") {
		t.Error("it leads to an event that no webhook brought")
	}
	_, page = consolePage(t, a.App, "/notifications/channels", nil)
	wants(t, "the channels", page, "reviews", `/notifications/reports/1">Waiting</a>`)
	_, page = consolePage(t, a.App, reportPages, nil)
	if strings.Contains(page, ">never<") {
		t.Error("the list says that it never ran")
	}
}
