package app

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// noun is a thing of which users have ten.
type noun struct {
	at     string             // where one is made, and all are listed
	list   string             // where they are listed instead
	key    string             // the member that names one
	one    func(i int) string // the body that makes one
	change func(of item) call // what changes one
	remove func(of item) call // what deletes one
	second int                // the answer to who makes the same one after another; 0: it is made too
	hooked bool               // each is made with its own hook, which the audit trail tells of too
}

type call struct{ method, path, body string }

// item is one of them, as it is listed.
type item map[string]json.RawMessage

func (i item) text(member string) string { return strings.Trim(string(i[member]), `"`) }

// with is the item as it is sent to be saved, with a member changed.
func (i item) with(member string, value string) string {
	changed := maps.Clone(i)
	changed[member] = json.RawMessage(value)
	b, _ := json.Marshal(changed) // of a map of JSON
	return string(b)
}

const (
	mtbs = "/rest/mtbs/1.0/configuration"
	own  = "/rest/outrigger/1.0"
)

func nouns(chat string) map[string]noun {
	ruled := func(keys string) func(i int) string {
		return func(i int) string {
			return fmt.Sprintf(`{"name":"of %d","connection":"dc"%s,"webhookUrl":"%s/%d?sig=secret-of-%d","eventTypes":["PULL_REQUEST_OPENED"]}`, i, keys, chat, i%4, i%4)
		}
	}
	byID := func(at string) func(item) call {
		return func(of item) call { return call{http.MethodDelete, at + "?id=" + of.text("id"), ""} }
	}
	renamed := func(at string) func(item) call {
		return func(of item) call { return call{http.MethodPost, at, of.with("name", `"renamed"`)} }
	}
	below := func(at, key string) func(item) call {
		return func(of item) call { return call{http.MethodDelete, at + "/" + url.PathEscape(of.text(key)), ""} }
	}
	const rules, reports, mentions = mtbs + "/filter", mtbs + "/reports", mtbs + "/mentions"
	const connections, hooks, users, tokens = own + "/connections", own + "/connections/dc/hooks", own + "/users", own + "/tokens"
	const grants, groupGrants = users + "/admin/grants", own + "/groups/crew/grants"
	return map[string]noun{
		"global rules":       {at: rules, key: "id", one: ruled(""), change: renamed(rules), remove: byID(rules)},
		"rules of a project": {at: rules, list: rules + "?projectKey=ATL", key: "id", one: ruled(`,"projectKey":"ATL"`), change: renamed(rules), remove: byID(rules)},
		"rules of a repository": {
			at: rules, list: rules + "?projectKey=ATL&repositoryKey=canoe", key: "id",
			one: ruled(`,"projectKey":"ATL","repositoryKey":"canoe"`), change: renamed(rules), remove: byID(rules),
		},
		"reports": {
			at: reports, key: "id", change: renamed(reports), remove: byID(reports),
			one: func(i int) string {
				return fmt.Sprintf(`{"name":"of %d","connection":"dc","projectKey":"ATL","repositoryKey":"canoe-%d","webhookUrl":"%s/%d?sig=secret-of-%d","inactivityDays":7,"frequency":"DAILY","time":"09:00","timeZone":"UTC"}`,
					i, i/2, chat, i%4, i%4)
			},
		},
		"connections": {
			at: connections, key: "name", second: http.StatusConflict, hooked: true, remove: below(connections, "name"),
			one: func(i int) string {
				return fmt.Sprintf(`{"name":"code-%d","kind":"bitbucket-dc","baseUrl":"https://code-%d.example.com"}`, i, i)
			},
			change: func(of item) call {
				return call{http.MethodPut, connections + "/" + of.text("name"), `{"kind":"bitbucket-dc","baseUrl":"https://moved.example.com"}`}
			},
		},
		"hooks": {
			at: hooks, key: "name", second: http.StatusConflict, remove: below(hooks, "name"),
			one:    func(i int) string { return fmt.Sprintf(`{"name":"hook-%d","projectKey":"P%d"}`, i, i/2) },
			change: func(of item) call { return call{http.MethodPost, hooks + "/" + of.text("name") + "/rotate", ""} },
		},
		"accounts in chats": {
			at: mentions, key: "user", second: http.StatusOK, // which changes it
			one: func(i int) string {
				return fmt.Sprintf(`{"connection":"dc","user":"user%d","slack":"U012AB3C%d"}`, i, i)
			},
			change: func(of item) call { return call{http.MethodPost, mentions, of.with("slack", `"U012AB3CZZ"`)} },
			remove: func(of item) call {
				return call{http.MethodDelete, mentions + "?connection=dc&user=" + of.text("user"), ""}
			},
		},
		"users": {
			at: users, key: "name", second: http.StatusConflict, remove: below(users, "name"),
			one:    func(i int) string { return fmt.Sprintf(`{"name":"user%d","password":"correct horse %d"}`, i, i) },
			change: func(of item) call { return call{http.MethodPost, users + "/" + of.text("name") + "/disable", ""} },
		},
		"tokens": {
			at: tokens, key: "id", remove: below(tokens, "id"),
			one: func(i int) string { return fmt.Sprintf(`{"name":"of %d","scope":"read"}`, i) },
		},
		"permissions of a user": {
			at: grants, key: "id", second: http.StatusConflict, remove: below(grants, "id"),
			one: func(i int) string {
				return fmt.Sprintf(`{"permission":"REPO_ADMIN","connection":"dc","projectKey":"ATL","repositoryKey":"canoe-%d"}`, i)
			},
		},
		"permissions of a group": {
			at: groupGrants, key: "id", second: http.StatusConflict, remove: below(groupGrants, "id"),
			one: func(i int) string {
				return fmt.Sprintf(`{"permission":"PROJECT_ADMIN","connection":"dc","projectKey":"P%d"}`, i)
			},
		},
	}
}

// Ten of everything, made by two at once, are ten; what is done to one of them is
// not done to the others; what two do at once to one is done once.
func TestTenOfEverything(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, nodes []*App) {
		// Before, nothing knows of the group.
		answers(t, nodes, call{http.MethodPost, own + "/groups/crew/grants", `{"permission":"ADMIN"}`}, http.StatusCreated)
		for name, n := range nouns("https://hooks.slack.com/services/T0/B0") {
			t.Run(name, func(t *testing.T) { tenOf(t, nodes, n) })
		}
	})
}

// eachPair has two ask at once: one node on SQLite, two on PostgreSQL.
func eachPair(t *testing.T, fn func(t *testing.T, nodes []*App)) {
	t.Run("sqlite", func(t *testing.T) {
		a := start(t, withConnection(settings(t)))
		fn(t, []*App{a, a})
	})
	t.Run("postgres, two nodes", func(t *testing.T) {
		url := secret.New(dbtest.PostgresURL(t, migrations()...))
		var nodes []*App
		for _, id := range []string{"one", "two"} {
			cfg := withConnection(settings(t))
			cfg.NodeID, cfg.DatabaseURL, cfg.Cluster.Enabled = id, url, true
			cfg.SecretKey = secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
			nodes = append(nodes, start(t, cfg))
		}
		fn(t, nodes)
	})
}

func tenOf(t *testing.T, nodes []*App, n noun) {
	const ten = 10
	before, audited := listed(t, nodes[0], n), countAudited(t, nodes[0])
	done := ten // what the audit trail has to tell of
	var making sync.WaitGroup
	for i := range ten {
		making.Go(func() {
			if status, answer := put(t, nodes[i%2], http.MethodPost, n.at, n.one(i)); status != http.StatusCreated {
				t.Errorf("making %d: %d %s", i, status, answer)
			}
		})
	}
	making.Wait()
	made := listed(t, nodes[1], n)
	maps.DeleteFunc(made, func(key string, _ item) bool { return before[key] != nil })
	if len(made) != ten || t.Failed() {
		t.Fatalf("%d are listed", len(made))
	}
	keys := slices.Sorted(maps.Keys(made))
	if n.change != nil {
		done++
		if change := n.change(made[keys[3]]); made[keys[3]]["version"] == nil || change.method != http.MethodPost {
			answers(t, nodes, change, http.StatusOK, http.StatusNoContent, http.StatusCreated)
		} else if statuses := atOnceOn(t, nodes, change); slices.Max(statuses) != http.StatusConflict || slices.Min(statuses) != http.StatusOK {
			t.Errorf("two that change one version at once are answered %d", statuses)
		}
		n.changed(t, nodes, made, keys[3])
	}
	// Two delete one at once, and two make one at once: it is done once.
	statuses := atOnceOn(t, nodes, n.remove(made[keys[6]]))
	if slices.Sort(statuses); statuses[0] != http.StatusNoContent || statuses[1] != http.StatusNotFound {
		t.Errorf("two that delete one at once are answered %d", statuses)
	}
	delete(made, keys[6])
	n.changed(t, nodes, made, "")
	again := n.one(ten)
	statuses = atOnceOn(t, nodes, call{http.MethodPost, n.at, again})
	want := []int{http.StatusCreated, http.StatusCreated}
	if n.second != 0 {
		want[1] = n.second
	}
	if done += 3; n.second == http.StatusConflict {
		done--
	}
	slices.Sort(want)
	if slices.Sort(statuses); !slices.Equal(statuses, want) {
		t.Errorf("two that make one at once are answered %d, want %d", statuses, want)
	}
	// What was deleted is made again, and all go, one after the other.
	for _, of := range listed(t, nodes[0], n) {
		if before[of.text(n.key)] == nil {
			answers(t, nodes, n.remove(of), http.StatusNoContent)
			done++
		}
	}
	if n.hooked {
		done += ten + 1
	}
	if entries := countAudited(t, nodes[0]) - audited; entries != done {
		t.Errorf("%d entries in the audit trail, want %d", entries, done)
	}
	if left := listed(t, nodes[1], n); len(left) != len(before) {
		t.Errorf("%d are left, %d were there before", len(left), len(before))
	}
}

// changed wants all but one to be listed as they were.
func (n noun) changed(t *testing.T, nodes []*App, made map[string]item, but string) {
	t.Helper()
	now := listed(t, nodes[1], n)
	for key, was := range made {
		same := maps.EqualFunc(was, now[key], func(a, b json.RawMessage) bool { return string(a) == string(b) })
		if same == (key == but) {
			t.Errorf("%s was %s, and is %s", key, was, now[key])
		}
	}
	if but != "" {
		made[but] = now[but]
	}
}

func answers(t *testing.T, nodes []*App, c call, want ...int) {
	t.Helper()
	if status, answer := put(t, nodes[0], c.method, c.path, c.body); !slices.Contains(want, status) {
		t.Fatalf("%s %s: %d %s", c.method, c.path, status, answer)
	}
}

// atOnceOn has both nodes asked the same at once.
func atOnceOn(t *testing.T, nodes []*App, c call) []int {
	statuses := make([]int, len(nodes))
	var asking sync.WaitGroup
	for i, a := range nodes {
		asking.Go(func() { statuses[i], _ = put(t, a, c.method, c.path, c.body) })
	}
	asking.Wait()
	return statuses
}

// listed returns what is listed, by its key.
func listed(t *testing.T, a *App, n noun) map[string]item {
	t.Helper()
	list := n.list
	if list == "" {
		list = n.at
	}
	status, answer := put(t, a, http.MethodGet, list, "")
	var page struct{ Items []item }
	into := any(&page)
	if strings.HasPrefix(answer, "[") {
		into = &page.Items
	}
	if err := json.Unmarshal([]byte(answer), into); status != http.StatusOK || err != nil {
		t.Fatalf("%s: %d %s", list, status, answer)
	}
	found := make(map[string]item)
	for _, of := range page.Items {
		if found[of.text(n.key)] != nil {
			t.Errorf("%s is listed twice", of.text(n.key))
		}
		found[of.text(n.key)] = of
	}
	return found
}

// withConnection adds a platform that is nowhere.
func withConnection(cfg *config.Config) *config.Config {
	cfg.Notify.Connections = []config.Connection{{Name: "dc", Kind: config.KindBitbucketDC, BaseURL: "https://code.invalid", WebhookSecret: secret.New("s")}}
	return cfg
}

func countAudited(t *testing.T, a *App) (n int) {
	t.Helper()
	if err := a.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM audit_entries`).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}
