package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// A script that was written for the originals, by what their documents say and with
// the habits of the host application's clients.
func TestAScriptWrittenForTheOriginals(t *testing.T) {
	t.Parallel()
	a := startWithHook(t)
	ask := func(method, path, accept, body string) (int, string) {
		t.Helper()
		joint := "?"
		if strings.Contains(path, "?") {
			joint = "&"
		}
		return get(t, a.URL()+path+joint+"os_authType=basic&_=1763800000000", asAdmin, func(r *http.Request) {
			r.Method = method
			r.Header.Set("X-Atlassian-Token", "no-check")
			if accept != "" {
				r.Header.Set("Accept", accept)
			}
			if body != "" {
				r.Header.Set("Content-Type", "application/json")
				r.Body = io.NopCloser(strings.NewReader(body))
			}
		})
	}
	want := func(status int, says string, code int, answer string) string {
		t.Helper()
		if code != status || !strings.Contains(answer, says) {
			t.Errorf("%d %s, want %d and %q", code, answer, status, says)
		}
		return answer
	}
	for _, version := range []string{"1.0", "latest"} {
		for _, slash := range []string{"", "/"} {
			mail, configuration := "/rest/mailqueue/"+version, "/rest/mtbs/"+version+"/configuration"
			code, answer := ask("GET", mail+"/status"+slash, "application/json", "")
			want(200, `"errorSize":0`, code, answer)
			code, answer = ask("GET", mail+"/status"+slash, "application/xml", "")
			want(200, `<mailQueue><size>0</size><errorSize>0</errorSize></mailQueue>`, code, answer)
			code, answer = ask("GET", mail+"/clusterStatus"+slash, "application/xml", "")
			want(200, `<clusterMailQueue`, code, answer)
			code, answer = ask("GET", mail+"/clusterStatus"+slash, "application/json", "")
			want(200, `{"nodes":[]}`, code, answer)

			code, answer = ask("GET", configuration+"/eventTypes"+slash, "", "")
			want(200, `"key":"BUILD_STATUS_SET"`, code, answer)
			for keys, query := range map[string]string{
				``: "", `,"projectKey":"ATL"`: "&projectKey=ATL", `,"projectKey":"ATL","repositoryKey":"canoe"`: "&projectKey=ATL&repositoryKey=canoe",
			} {
				code, answer = ask("POST", configuration+"/filter"+slash, "application/json", `{"id":0,"name":"releases",
					"webhookUrl":"https://prod-1.westeurope.logic.azure.com/workflows/x/triggers/manual/paths/invoke?sig=secret",
					"eventTypes":["Build status set","pull_request_opened"],"branchMask":"tag/.*"`+keys+`}`)
				var made struct{ ID int64 }
				if err := json.Unmarshal([]byte(want(201, `"eventTypes":["PULL_REQUEST_OPENED","BUILD_STATUS_SET"]`, code, answer)), &made); err != nil {
					t.Fatal(err)
				}
				code, answer = ask("GET", configuration+"/filter"+slash+"?"+strings.TrimPrefix(query, "&"), "", "")
				want(200, fmt.Sprintf(`"id":%d,`, made.ID), code, answer)
				code, answer = ask("DELETE", fmt.Sprintf("%s/filter%s?id=%d%s", configuration, slash, made.ID, query), "", "")
				want(204, "", code, answer)
			}

			code, answer = ask("GET", "/rest/threaded-comments/"+version+"/migration/export-data"+slash+"?offset=0&limit=1000", "", "")
			want(200, `"hasMore":false`, code, answer)
			// Of a site to which nothing was migrated, in the host application's words.
			code, answer = ask("GET", "/rest/migration/latest/report/id-mappings"+slash+"?cloudSiteUrl="+url.QueryEscape("https://x.atlassian.net"), "text/csv", "")
			want(400, "No migrationScopeId found for the cloudSiteUrl", code, answer)
		}
	}
}
