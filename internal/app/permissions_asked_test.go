package app

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// makeThings makes what the wildcards of paths stand for.
func (p *permissionTable) makeThings() {
	const configuration = "/rest/mtbs/1.0/configuration"
	p.known = map[string]string{
		"page":       "rules",
		"connection": "main", "name": "main", "hook": "atl", "way": "none", "project": "ATL", "repository": "canoe", "commit": strings.Repeat("2", 40),
		"what": "drain", "cloudIssueId": "10000", "workspace": "ATL",
	}
	p.makeRule("rule")
	p.makeRule("deleted rule")
	p.makeCloudRule("cloud rule")
	p.makeCloudRule("deleted cloud rule")
	p.makeReport("report")
	p.makeReport("deleted report")
	p.makeHook()
	pushed(p.t, p.App, "main")
	id := regexp.MustCompile(`"(?:id|channel)":"?([^",}]+)`)
	for name, path := range map[string]string{"event": "/events", "delivery": "/deliveries", "channel": "/channels"} {
		_, body := get(p.t, p.URL()+configuration+path, asAdmin)
		found := id.FindStringSubmatch(body)
		if found == nil {
			p.t.Fatalf("%s: %s", path, body)
		}
		p.known[name] = found[1]
	}
}

func (p *permissionTable) makeRule(name string) {
	status, v := postJSON(p.t, p.App, "/rest/mtbs/1.0/configuration/filter", "admin", p.ruleBody())
	if status != http.StatusCreated {
		p.t.Fatalf("the rule: %d %v", status, v)
	}
	p.known[name] = fmt.Sprint(v["id"])
}

// makeCloudRule saves a rule with an account, which no user can here.
func (p *permissionTable) makeCloudRule(name string) {
	rule := notify.Rule{
		Name: "pipelines", Connection: "cloud", ProjectKey: "ATL", RepositoryKey: "canoe", Format: notify.Auto, Enabled: true, AuthorizationID: 1,
		Filter: notify.Filter{EventTypes: []notify.EventType{notify.PipelineFailed}, ExpectedCommitStatus: notify.StatusBoth},
	}
	info, err := p.chat.store.SaveRule(p.t.Context(), notify.Actor{Name: "admin"}, rule, p.url)
	if err != nil {
		p.t.Fatal(err)
	}
	p.known[name] = fmt.Sprint(info.ID)
}

func (p *permissionTable) makeReport(name string) {
	status, v := postJSON(p.t, p.App, "/rest/mtbs/1.0/configuration/reports", "admin", p.reportBody())
	if status != http.StatusCreated {
		p.t.Fatalf("the report: %d %v", status, v)
	}
	p.known[name] = fmt.Sprint(v["id"])
}

func (p *permissionTable) makeHook() {
	if status := postAs(p.t, p.App, "/rest/outrigger/1.0/connections/main/hooks", hookBody, asAdmin); status != http.StatusCreated {
		p.t.Fatalf("the hook: %d", status)
	}
}

func (p *permissionTable) ruleBody() string {
	return `{"name":"pushes","connection":"main","projectKey":"ATL","repositoryKey":"canoe","eventTypes":["BRANCH_UPDATED"],"webhookUrl":"` + p.url + `"}`
}

func (p *permissionTable) reportBody() string {
	return `{"name":"waiting","connection":"main","projectKey":"ATL","repositoryKey":"canoe","webhookUrl":"` + p.url +
		`","inactivityDays":7,"frequency":"DAILY","time":"09:00","timeZone":"UTC"}`
}

// query is what is asked of a route besides its path.
func (p *permissionTable) query(pattern string) string {
	const (
		configuration = "/rest/mtbs/1.0/configuration"
		cloudRules    = "/rest/mtbs/1.0/cloud/{workspace}/{repository}/rules"
	)
	_, path, _ := strings.Cut(pattern, " ")
	switch path {
	case configuration + "/filter":
		if strings.HasPrefix(pattern, "DELETE") {
			return "?id=" + p.known["deleted rule"]
		}
		if strings.HasPrefix(pattern, "GET") {
			return "?connection=main&projectKey=ATL&repositoryKey=canoe"
		}
	case "/rest/mtbs/1.0/cloud/authorizations":
		return map[string]string{"POST": "?connection=cloud", "DELETE": "?id=99999999"}[strings.SplitN(pattern, " ", 2)[0]]
	case cloudRules, cloudRules + "/enabled":
		if strings.HasPrefix(pattern, "DELETE") {
			return "?id=" + p.known["deleted cloud rule"]
		}
		if strings.HasPrefix(pattern, "PUT") {
			return "?enabled=true&id=" + p.known["cloud rule"]
		}
	case configuration + "/reports":
		if strings.HasPrefix(pattern, "DELETE") {
			return "?id=" + p.known["deleted report"]
		}
		if strings.HasPrefix(pattern, "GET") {
			return "?connection=main&projectKey=ATL&repositoryKey=canoe"
		}
	case configuration + "/reports/enabled":
		return "?enabled=true&id=" + p.known["report"]
	case configuration + "/events":
		return "?connection=main&projectKey=ATL&repositoryKey=canoe"
	case configuration + "/deliveries":
		return "?filterId=" + p.known["rule"]
	case configuration + "/filter/enabled":
		return "?enabled=true&id=" + p.known["rule"]
	case configuration + "/deliveries/redeliver":
		if strings.HasPrefix(pattern, "GET") {
			return "?state=failed&filterId=" + p.known["rule"]
		}
		return "?id=" + p.known["delivery"]
	case configuration + "/deliveries/cancel", configuration + "/deliveries/try":
		return "?id=" + p.known["delivery"]
	case configuration + "/channels/{channel}/retry":
		return "?which=none"
	case configuration + "/mentions":
		if strings.HasPrefix(pattern, "DELETE") {
			return "?connection=main"
		}
	case configuration + "/preview":
		return "?eventType=TAG_CREATED"
	case "/notifications/cloud/rules", "/notifications/cloud/rules/new", "/notifications/cloud/rules/try", "/notifications/cloud/rules/webhook", "/notifications/cloud/rules/hook":
		return "?connection=cloud&workspace=ATL&repository=canoe"
	case "/notifications/choices":
		return "?kind=users&connection=main&project=ATL&repository=canoe&text=ada"
	case "/notifications/rules/new", "/notifications/rules/try", "/notifications/rules/cards":
		return "?level=repository"
	}
	return ""
}

const hookBody = `{"name":"atl","projectKey":"ATL","repositoryKey":"canoe"}`

// body is what is sent, with its type: a whole rule or hook, else nothing that
// would do.
func (p *permissionTable) body(pattern string) (body, kind string) {
	const ruleForm = "name=pushes&connection=main&projectKey=ATL&repositoryKey=canoe"
	switch pattern {
	case "POST /rest/mtbs/1.0/configuration/filter", "POST /rest/mtbs/1.0/configuration/filter/test", "POST /rest/mtbs/1.0/configuration/filter/try":
		return p.ruleBody(), "application/json"
	case "POST /rest/mtbs/1.0/configuration/reports", "POST /rest/mtbs/1.0/configuration/reports/test":
		return p.reportBody(), "application/json"
	case "POST /rest/outrigger/1.0/connections/{name}/hooks":
		return hookBody, "application/json"
	case "POST /hooks/{connection}/builds/{commit}", "POST /hooks/{connection}/builds/projects/{project}/repos/{repository}/commits/{commit}":
		return `{"key":"K","state":"FAILED","name":"Nightly build","url":"https://ci.example.com/1"}`, "application/json"
	case "POST /notifications/mentions/delete":
		return "connection=main", "application/x-www-form-urlencoded"
	case "POST /notifications/channels/{channel}/retry":
		return "which=none", "application/x-www-form-urlencoded"
	case "POST /notifications/rules/new", "POST /notifications/rules/try", "POST /notifications/connections/{name}/new-hook":
		return ruleForm, "application/x-www-form-urlencoded"
	case "POST /notifications/reports/new":
		return "name=waiting&connection=main&repository=ATL/canoe", "application/x-www-form-urlencoded"
	}
	switch method, path, _ := strings.Cut(pattern, " "); {
	case method == http.MethodGet:
		return "", ""
	case strings.HasPrefix(path, "/rest/"), strings.HasPrefix(path, "/hooks/"):
		return "{}", "application/json"
	}
	return "", "application/x-www-form-urlencoded"
}

var wildcard = regexp.MustCompile(`\{(\w+)\}`)

// path has things in place of a pattern's wildcards.
func (p *permissionTable) path(pattern string) string {
	_, path, _ := strings.Cut(pattern, " ")
	return wildcard.ReplaceAllStringFunc(path, func(found string) string {
		name := strings.Trim(found, "{}")
		cloud := ""
		if strings.Contains(path, "/cloud/rules/") {
			cloud = "cloud "
		}
		if strings.HasSuffix(pattern, "/rules/{id}/delete") {
			return p.known["deleted "+cloud+"rule"]
		}
		if strings.HasSuffix(pattern, "/reports/{id}/delete") {
			return p.known["deleted report"]
		}
		for part, kind := range map[string]string{"/reports/": "report", "/events/": "event", "/deliveries/": "delivery", "/rules/": cloud + "rule"} {
			if name == "id" && strings.Contains(path, part) {
				return p.known[kind]
			}
		}
		switch {
		case name == "id":
			return "99999999"
		case strings.HasSuffix(pattern, "/{name}/disable"), pattern == "POST /system/users/named/{name}/delete",
			pattern == "POST /system/users/named/{name}/password", pattern == "DELETE /rest/outrigger/1.0/users/{name}", pattern == "DELETE /rest/outrigger/1.0/connections/{name}":
			return "not-there"
		case name == "group":
			return "devs"
		case name == "name" && strings.Contains(path, "/users/"):
			return "user"
		case p.known[name] == "":
			p.t.Fatalf("the table needs to know what {%s} of %s is", name, pattern)
		}
		return p.known[name]
	})
}

// mend makes again what an asker was allowed to end.
func (p *permissionTable) mend(pattern string, status int, who asker) {
	if status >= 400 {
		return
	}
	switch pattern {
	case "DELETE /rest/mtbs/1.0/configuration/filter", "POST /notifications/rules/{id}/delete":
		p.makeRule("deleted rule")
	case "DELETE /rest/mtbs/1.0/configuration/reports", "POST /notifications/reports/{id}/delete":
		p.makeReport("deleted report")
	case "DELETE /rest/mtbs/1.0/cloud/{workspace}/{repository}/rules", "POST /notifications/cloud/rules/{id}/delete":
		p.makeCloudRule("deleted cloud rule")
	case "DELETE /rest/outrigger/1.0/connections/{name}/hooks/{hook}", "POST /notifications/connections/{name}/hooks/{hook}/delete":
		p.makeHook()
	case "POST /notifications/cloud/rules/hook":
		// The rounds of webhooks.Webhooks may delete one meanwhile.
		for _, h := range p.chat.store.Platforms().HooksOf("cloud", notify.Scope{ProjectKey: "ATL", RepositoryKey: "canoe"}) {
			if err := p.chat.store.DeleteHook(p.t.Context(), notify.Actor{Name: "admin"}, "cloud", h.Name); err != nil && !fault.Is(err, fault.NotFound) {
				p.t.Fatal(err)
			}
		}
	case "POST /sign-out":
		switch who.name {
		case "paused":
			p.wake(who)
		case "wrong", "disabled": // there is none to end
		default:
			p.renewSession(who.name)
		}
	case "DELETE /rest/outrigger/1.0/sessions":
		// A token is the administrator's.
		p.renewSession(regexp.MustCompile(`^token:.*`).ReplaceAllString(who.name, "admin"))
	case "POST /system/users/named/{name}/access/end":
		p.renewSession("user")
	}
}

func (p *permissionTable) renewSession(name string) {
	for i := range p.askers {
		if p.askers[i].name == name && p.askers[i].session != "" {
			p.askers[i].session = p.signIn(name)
		}
	}
}
