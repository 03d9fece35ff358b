package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// Whatever stands in any member of a report or of a rule of the cloud edition, it
// is taken or refused by name, on both databases; and so in queries and paths.
func TestHostileMembers(t *testing.T) {
	values := []any{
		nil, true, -1, 1e300, 0.5, []any{}, map[string]any{}, "", " ", "\x00", "a\x00b", "\u202Etxt.exe", "\uFFFE\u200B", "<script>alert(1)</script>", "'; DROP TABLE notify_reports; --",
		"../../etc/passwd", "right/UTC", "09:00:00", "-1:00", "２３:00", "09:00\n", strings.Repeat("é", 256), strings.Repeat("x", 100_000), "(a+)+$", "MONDAY,TUESDAY", "1e3", "=1+1", "9223372036854775808",
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := cloudServer(t, d)
		s.reports.Lister = &asked{}
		answered := func(w *httptest.ResponseRecorder, what string, value any) {
			t.Helper()
			if w.Code >= 500 || w.Code == 400 && !strings.Contains(w.Body.String(), `"field"`) {
				t.Errorf("%s %.40q: %d %.300s", what, fmt.Sprint(value), w.Code, w.Body)
			}
		}
		for path, body := range map[string]string{
			ReportsPath: strings.Replace(fmt.Sprintf(someReport, ""), `"name"`, `"connection":"dc","name"`, 1), cloudRulesPath + "?connection=cloud": fmt.Sprintf(someCloudRule, ""),
		} {
			var whole map[string]any
			if err := json.Unmarshal([]byte(body), &whole); err != nil {
				t.Fatal(err)
			}
			for _, more := range []string{"channelName", "format", "targetBranchMask", "destinationBranchFilter", "expectedCommitStatus", "day", "id", "version"} {
				if _, ok := whole[more]; !ok {
					whole[more] = nil
				}
			}
			for member, was := range whole {
				for _, value := range values {
					whole[member] = value
					text, err := json.Marshal(whole)
					if err != nil {
						t.Fatal(err)
					}
					answered(s.do("POST", path, "admin", string(text)), path+" "+member, value)
				}
				if whole[member] = was; was == nil {
					delete(whole, member)
				}
			}
		}
		for _, value := range values {
			if text, ok := value.(string); ok && len(text) < 1000 {
				q := url.QueryEscape(text)
				for _, path := range []string{
					ReportsPath + "?projectKey=" + q + "&repositoryKey=x&connection=dc", ReportsPath + "?id=" + q, ReportsPath + "/1/view?format=" + q, ReportsPath + "/" + url.PathEscape(text) + "/view",
					"/rest/mtbs/1.0/cloud/" + url.PathEscape(text) + "/engine/rules?connection=cloud", "/rest/mtbs/1.0/cloud/atlas/" + url.PathEscape(text) + "/rules?connection=" + q,
				} {
					if w := s.do("GET", path, "admin", ""); w.Code >= 500 && w.Code != 503 {
						t.Errorf("GET %s: %d %.300s", path, w.Code, w.Body)
					}
				}
			}
		}
	}, migrations...)
}
