package admin_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/threads"
)

// sendFor sends a report that is for a site, in the place of another one.
func (r *rig) sendFor(status int, site string) string {
	r.t.Helper()
	metadata := []string{"replace"}
	if site != "" {
		metadata = append(metadata, "site "+base64.StdEncoding.EncodeToString([]byte(site)))
	}
	w := r.sendAt("root", threads.MappingsFile, "ids.csv", mappings, metadata...)
	if w.Code != status {
		r.t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

// A report of another site is loaded only when that was accepted, and preview and
// report name both sites. Each report has its own site, also one that takes the place
// of another.
func TestOtherSite(t *testing.T) {
	const checked = "Issues are checked on the target; comments are not."
	for _, read := range []bool{false, true} {
		r := onSQLite(t, &site{}).work()
		for _, c := range []struct {
			site, says string
			differ     bool
		}{
			{"https://other.example.com", "is for https://other.example.com, but the target is https://site.example.com", true},
			{"https://SITE.example.com/", "is for https://site.example.com, which is the target. " + checked, false},
			{"http://site.example.com", "is for http://site.example.com, but the target is https://site.example.com", true},
			{"", "The target is https://site.example.com. Which site the id mappings report is for is not known. " + checked, false},
		} {
			r.send(threads.HierarchyFile, hierarchy)
			r.sendFor(201, c.site)
			named := r.sent()
			if read {
				named = r.previewed()
				if got := r.do(200, "GET", "/preview"); !strings.Contains(got, c.says) || !strings.Contains(got, fmt.Sprintf(`"differ":%t`, c.differ)) {
					t.Errorf("%s: the preview: %s", c.site, got)
				}
				r.has(r.open("GET", movePath+"/preview", "root"), 200, c.says)
			}
			query := ""
			if c.differ {
				if got := r.message(r.load(409, "?acceptIncomplete=true", named)); !strings.Contains(got, c.says) || !strings.Contains(got, "acceptOtherSite=true") {
					t.Errorf("%s: the refusal: %s", c.site, got)
				}
				query = "?acceptOtherSite=true"
			}
			r.load(202, query, named)
			r.until(threads.PhaseReady)
			if got := r.do(200, "GET", "/report"); !strings.Contains(got, c.says) {
				t.Errorf("%s: the report does not say it: %s", c.site, got)
			}
		}
		if got := r.sendFor(400, "cloud"); !strings.Contains(got, "Its site must be the URL of the cloud site") {
			t.Error(got)
		}
	}
}

// The console asks with one box, also where the files are damaged too.
func TestOtherSiteInTheConsole(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		r := onSQLite(t, &site{}).work()
		hierarchy, tick, label := hierarchy, "acceptOtherSite", "Load them for https://site.example.com all the same."
		if damaged {
			hierarchy, tick = hierarchy[:len(hierarchy)-1], "acceptBoth"
			label += " Load them as they are. The hierarchy file is cut off: it ends after 6 records."
		}
		r.send(threads.HierarchyFile, hierarchy)
		r.has(r.upload(movePath+"/files", "kind", "mappings", "site", "other", "file/ids.csv", mappings), 400, "Give the URL of the cloud site")
		r.has(r.upload(movePath+"/files", "kind", "mappings", "site", "https://other.example.com/", "file/ids.csv", mappings), 303)
		r.previewed()
		r.has(r.open("GET", movePath, "root"), 200, `href="/base/threads/admin/migration/upload" data-confirm>Upload Data</a>`, `name="site"`)
		r.has(r.open("GET", movePath+"/upload", "root"), 200, "but the target is https://site.example.com", `name="`+tick+`" value="true" required> `+label)
		shown := r.hidden(movePath + "/upload")
		r.has(r.open("POST", movePath+"/upload", "root", shown...), 409, "acceptOtherSite=true")
		r.has(r.follow(r.open("POST", movePath+"/upload", "root", append(shown, tick, "true")...)), 200, "ready to process <small>IDLE</small>")
	}
}

// Outrigger's own database has no site to compare with.
func TestNoSiteToCompare(t *testing.T) {
	each(t, func(t *testing.T, r *rig) {
		r.work()
		r.send(threads.HierarchyFile, hierarchy)
		r.sendFor(201, "https://other.example.com")
		named := r.previewed()
		if got := r.do(200, "GET", "/preview"); !strings.Contains(got, "is for https://other.example.com. The target is Outrigger's own database") {
			t.Error(got)
		}
		r.load(202, "", named)
		r.until(threads.PhaseReady)
	})
}
