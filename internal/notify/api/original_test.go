package api

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/notify"
)

// Enum values are taken in any case and as the original's pages write them, and
// answered in one.
func TestEnumValuesAreTakenAsTheOriginalWritesThem(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := cloudServer(t, d)
		const url = `"webhookUrl":"https://chat.example.com/flow/invoke?sig=very-secret"`
		for _, c := range []struct{ path, user, body, want string }{
			{ReportsPath, "root", `{"name":"a","frequency":"Daily",%s}`, `"frequency":"DAILY"`},
			{ReportsPath, "root", `{"name":"b","frequency":"Working day","format":"Slack",%s}`, `"format":"slack","inactivityDays":3,"frequency":"WORKING_DAY"`},
			{ReportsPath, "root", `{"name":"c","frequency":"weekly","day":"Friday",%s}`, `"frequency":"WEEKLY","day":"FRIDAY"`},
			{filterPath, "root", `{"connection":"dc","name":"d","eventTypes":["build status set","Pull_Request_Opened"],"format":"Teams",` + url + `}`,
				`"format":"teams","eventTypes":["PULL_REQUEST_OPENED","BUILD_STATUS_SET"]`},
			{filterPath, "root", `{"connection":"dc","name":"e","eventTypes":["tag-created"],"quietHours":{"days":["Monday"],"from":"20:00","to":"21:00","timeZone":"UTC","urgent":["tag created"]},` + url + `}`,
				`"quietHours":{"days":["MONDAY"],"from":"20:00","to":"21:00","timeZone":"UTC","urgent":["TAG_CREATED"]}`},
			{cloudRulesPath, "rower", `{"name":"f","expectedEvents":["Build Status Set"],"expectedCommitStatus":"success",` + url + `}`, `"expectedCommitStatus":"SUCCESS"`},
			{cloudRulesPath, "rower", `{"name":"g","expectedEvents":["pipeline_failed"],"expectedCommitStatus":"Both",` + url + `}`, `"expectedCommitStatus":"BOTH"`},
		} {
			body := c.body
			if c.path == ReportsPath {
				body = fmt.Sprintf(body, `"connection":"dc","projectKey":"ATL","repositoryKey":"canoe","time":"09:00","inactivityDays":3,`+url)
			}
			w := s.do("POST", c.path, c.user, body)
			if w.Code != 201 || !strings.Contains(w.Body.String(), c.want) {
				t.Errorf("%s: %d %s, want %s", body, w.Code, w.Body, c.want)
			}
		}
		for _, path := range []string{
			EventsPath + "?outcome=Not%20understood&eventType=tag%20created", basePath + "/preview?eventType=Tag+created&format=HTML",
		} {
			if w := s.do("GET", path, "root", ""); w.Code != 200 {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
		for _, body := range []string{`"frequency":"Monthly"`, `"frequency":"work day"`, `"frequency":"WEEKLY","day":"Fri"`} {
			s.want(400, s.do("POST", ReportsPath, "root", `{"name":"x","connection":"dc","projectKey":"ATL","repositoryKey":"canoe","time":"09:00","inactivityDays":3,`+url+`,`+body+`}`))
		}
	})
}

// The keys of its level may go with the id of a rule that is deleted. Those of
// another leave it alone.
func TestDeletingARuleTakesTheKeysOfItsLevel(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServerOn(t, d, notify.Connection{Name: "dc", Kind: "bitbucket-dc"})
		make := func(keys string) string {
			t.Helper()
			return fmt.Sprintf("%v", s.want(201, s.do("POST", filterPath, "root", `{"name":"r","eventTypes":["TAG_CREATED"],"webhookUrl":"https://chat.example.com/flow/invoke?sig=very-secret"`+keys+`}`))["id"])
		}
		for _, c := range []struct{ keys, query, fields string }{
			{``, ``, ""},
			{``, `&connection=dc`, ""},
			{``, `&projectKey=&repositoryKey=`, ""},
			{``, `&projectKey=ATL`, "projectKey"},
			{``, `&projectKey=ATL&repositoryKey=canoe`, "projectKey repositoryKey"},
			{`,"projectKey":"ATL"`, `&projectKey=atl`, ""},
			{`,"projectKey":"ATL"`, `&projectKey=PAC`, "projectKey"},
			{`,"projectKey":"ATL"`, `&projectKey=ATL&repositoryKey=canoe`, "repositoryKey"},
			{`,"projectKey":"ATL","repositoryKey":"canoe"`, `&projectKey=ATL&repositoryKey=Canoe`, ""},
			{`,"projectKey":"ATL","repositoryKey":"canoe"`, `&projectKey=ATL&repositorySlug=canoe`, ""},
			{`,"projectKey":"ATL","repositoryKey":"canoe"`, `&projectKey=ATL`, "repositoryKey"},
			{`,"projectKey":"ATL","repositoryKey":"canoe"`, `&repositorySlug=hull&projectKey=ATL`, "repositorySlug"},
			{`,"projectKey":"ATL","repositoryKey":"canoe"`, `&repositoryKey=canoe`, "projectKey"},
			{``, `&connection=other`, "connection"},
		} {
			id := make(c.keys)
			w := s.do("DELETE", filterPath+"?id="+id+c.query, "root", "")
			var answer map[string]any
			if c.fields != "" {
				if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
					t.Fatal(err)
				}
			}
			if left := s.do("GET", filterPath+"?id="+id, "root", "").Code; c.fields == "" && (w.Code != 204 || left != 404) ||
				c.fields != "" && (w.Code != 400 || left != 200 || fields(answer) != c.fields) {
				t.Errorf("of a rule with %q by %q: %d %s, and then %d", c.keys, c.query, w.Code, w.Body, left)
			}
		}
	})
}
