package mailqueue

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/cluster"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/rest"
)

// people answers who is behind a name; every password is right. A token is a
// name with a scope: "monitor:monitoring".
type people map[string][]identity.Grant

var everybody = people{
	"root":   {{Permission: identity.SysAdmin}},
	"admin":  {{Permission: identity.Admin}},
	"repo":   {{Permission: identity.RepoAdmin, Where: identity.Where{Connection: "dc", Project: "ATL", Repository: "canoe"}}},
	"nobody": nil,
}

func (p people) Basic(_ context.Context, user, _, _ string) (*identity.Principal, error) {
	grants, ok := p[user]
	if !ok {
		return nil, identity.ErrUnauthenticated()
	}
	return &identity.Principal{Name: user, Source: identity.Local, Scope: identity.All, Grants: grants}, nil
}

func (p people) Bearer(_ context.Context, token string) (*identity.Principal, error) {
	user, scope, _ := strings.Cut(token, ":")
	return &identity.Principal{Name: user, Source: identity.Local, Scope: identity.Scope(scope), Grants: p[user]}, nil
}

func (p people) Session(context.Context, string) (*identity.Principal, error) {
	return nil, identity.ErrUnauthenticated()
}

// server is the wing behind a router, on SQLite: the statements are tested on
// both databases elsewhere.
type server struct {
	t      *testing.T
	board  *Board
	store  *Store
	nodes  *nodes
	relay  *fakeRelay
	source *source
	router *rest.Router
}

func newServer(t *testing.T) *server {
	d := dbtest.SQLite(t)
	must(t, d.Migrate(t.Context(), schema...))
	s := &server{t: t, store: NewStore(d), nodes: &nodes{}, relay: &fakeRelay{}, source: &source{now: Sizes{26, 2}}}
	s.board = &Board{
		NodeID: "node_1", Clustered: true, Own: s.source, Source: "postfix",
		Cluster: s.nodes, Store: s.store, Relay: s.relay,
	}
	router, err := rest.NewRouter(rest.Options{Identity: everybody, Log: slog.New(slog.DiscardHandler), BaseURL: "https://tools.example.com/outrigger"})
	must(t, err)
	(&API{Board: s.board, Relay: s.relay}).Register(router)
	s.router = router
	return s
}

// do asks as somebody ("" is nobody, "token …" a token) and gives the answer.
func (s *server) do(method, path, user, accept, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), method, "/outrigger"+path, strings.NewReader(body))
	if token, ok := strings.CutPrefix(user, "token "); ok {
		r.Header.Set("Authorization", "Bearer "+token)
	} else if user != "" {
		r.SetBasicAuth(user, "x")
	}
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	s.router.ServeHTTP(w, r)
	return w
}

// golden compares an answer to the letter with a file of testdata, which has a
// line end more. Where UPDATE_GOLDEN is set it writes the file instead.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		must(t, os.WriteFile(file, []byte(got+"\n"), 0o644))
	}
	want, err := os.ReadFile(file)
	must(t, err)
	if diff := cmp.Diff(string(want), got+"\n"); diff != "" {
		t.Errorf("%s differs; run with UPDATE_GOLDEN=1 if that is meant:\n%s", file, diff)
	}
}

// Both endpoints, to the letter, in both formats.
func TestWire(t *testing.T) {
	for _, test := range []struct {
		name, path string
		setUp      func(*server)
	}{
		{"status", "/status", func(*server) {}},
		{"cluster-empty", "/clusterStatus", func(s *server) {
			s.board.Clustered = false
			s.nodes.list = []cluster.Node{{ID: "node_1", State: cluster.Active}}
		}},
		{"cluster-one", "/clusterStatus", func(s *server) {
			s.nodes.list = []cluster.Node{{ID: "node_1", State: cluster.Active}}
			must(s.t, s.store.Record(s.t.Context(), "node_1", "postfix", Sizes{26, 2}, nil))
		}},
		{"cluster-three", "/clusterStatus", func(s *server) {
			// The first is OFFLINE with nothing left, the second has its
			// messages in the database, the third has a source of its own.
			s.nodes.list = []cluster.Node{{ID: "node_3", State: cluster.Active}, {ID: "node_1", State: cluster.Passive}, {ID: "node_2", State: cluster.Offline}}
			s.relay.queues = []Queue{{NodeID: "node_1", Sizes: Sizes{4, 1}}, {NodeID: "node_2"}}
			must(s.t, s.store.Record(s.t.Context(), "node_1", "relay", Sizes{99, 99}, nil))
			must(s.t, s.store.Record(s.t.Context(), "node_2", "relay", Sizes{99, 99}, nil))
			must(s.t, s.store.Record(s.t.Context(), "node_3", "jmx", Sizes{120, 0}, nil))
		}},
		{"cluster-offline", "/clusterStatus", func(s *server) {
			s.nodes.list = []cluster.Node{{ID: "node_2", State: cluster.Offline}}
			s.relay.queues = []Queue{{NodeID: "node_2", Sizes: Sizes{7, 3}}}
		}},
		{"cluster-failing", "/clusterStatus", func(s *server) {
			s.nodes.list = []cluster.Node{{ID: "node_1", State: cluster.Active}}
			must(s.t, s.store.Record(s.t.Context(), "node_1", "postfix", Sizes{26, 2}, nil))
			must(s.t, s.store.Record(s.t.Context(), "node_1", "postfix", Sizes{}, fault.New(fault.Unavailable, "It is down.")))
		}},
		{"cluster-never-sampled", "/clusterStatus", func(s *server) {
			s.nodes.list = []cluster.Node{{ID: "node_1", State: cluster.Activating}}
		}},
		{"cluster-watched", "/clusterStatus", func(s *server) {
			// Without a cluster exactly the nodes that are watched are listed.
			s.board.Clustered = false
			s.nodes.list = []cluster.Node{{ID: "node_1", State: cluster.Active}}
			_, l := lease(s.t, s.store.db, "w")
			must(s.t, s.store.KeepWatched(s.t.Context(), l, []WatchedNode{{"jira & co", "jmx"}, {"jira_1", "jmx"}}))
			must(s.t, s.store.RecordWatched(s.t.Context(), l, "jira_1", Sizes{26, 2}, nil))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			test.setUp(s)
			for _, f := range []struct{ name, mediaType string }{{"json", "application/json"}, {"xml", "application/xml"}} {
				w := s.do("GET", basePath+test.path, "admin", f.mediaType, "")
				if w.Code != 200 || w.Header().Get("Content-Type") != f.mediaType || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Vary") != "Accept" {
					t.Errorf("%s: %d %v", f.name, w.Code, w.Header())
				}
				golden(t, test.name+"."+f.name, w.Body.String())
				suffixed := s.do("GET", basePath+test.path+"."+f.name, "admin", "", "")
				if suffixed.Body.String() != w.Body.String() {
					t.Errorf("by suffix: %s", suffixed.Body)
				}
			}
			plain := s.do("GET", basePath+test.path, "admin", "", "")
			if !json.Valid(plain.Body.Bytes()) {
				t.Errorf("without Accept: %s", plain.Body)
			}
		})
	}
}

// The XML is well-formed and says what the JSON says.
func TestXMLReadsBack(t *testing.T) {
	for _, name := range []string{"cluster-empty", "cluster-three", "cluster-watched"} {
		var fromXML, fromJSON ClusterMailQueue
		raw, err := os.ReadFile("testdata/" + name + ".xml")
		must(t, err)
		must(t, xml.Unmarshal(raw, &fromXML))
		raw, err = os.ReadFile("testdata/" + name + ".json")
		must(t, err)
		must(t, json.Unmarshal(raw, &fromJSON))
		fromXML.XMLName = xml.Name{}
		for i := range fromXML.Nodes {
			fromXML.Nodes[i].MailQueue.XMLName = xml.Name{}
		}
		if diff := cmp.Diff(fromJSON.Nodes, fromXML.Nodes); diff != "" && len(fromJSON.Nodes)+len(fromXML.Nodes) > 0 {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// SYS_ADMIN, ADMIN and tokens made for monitors may ask; nobody else.
func TestWhoMayAsk(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{basePath + "/status", basePath + "/clusterStatus"} {
		for who, want := range map[string]int{
			"": 401, "stranger": 401, "nobody": 403, "repo": 403, "admin": 200, "root": 200,
			"token nobody:monitoring": 200, "token admin:monitoring": 200, "token admin:read": 200, "token admin:all": 200,
			"token nobody:read": 403, "token admin:builds": 403, "token admin:mail": 403,
		} {
			if w := s.do("GET", path, who, "", ""); w.Code != want {
				t.Errorf("%s as %q: %d, want %d", path, who, w.Code, want)
			}
		}
		if w := s.do("POST", path, "root", "", "{}"); w.Code != 405 || w.Header().Get("Allow") != "GET, HEAD" {
			t.Errorf("POST %s: %d, Allow %q", path, w.Code, w.Header().Get("Allow"))
		}
		if w := s.do("GET", path, "root", "text/html", ""); w.Code != 406 {
			t.Errorf("as HTML: %d", w.Code)
		}
	}
	// A monitor's token is for these two and no more.
	for _, path := range []string{nodesPath, mailPath, mailPath + "/messages"} {
		for who, want := range map[string]int{"": 401, "nobody": 403, "token admin:monitoring": 403, "admin": 200} {
			if w := s.do("GET", path, who, "", ""); w.Code != want {
				t.Errorf("%s as %q: %d, want %d", path, who, w.Code, want)
			}
		}
	}
}

// A source that does not answer is a 503 that says which, in the format that
// was asked for, and never an old number; the cluster's answer has the last.
func TestSourceDoesNotAnswer(t *testing.T) {
	s := newServer(t)
	s.source.err = fault.New(fault.Unavailable, "The exporter at http://jira:9090 did not answer: it took longer than 5s.")
	w := s.do("GET", StatusPath, "admin", "application/json", "")
	if want := `{"status-code":503,"message":"The exporter at http://jira:9090 did not answer: it took longer than 5s."}`; w.Code != 503 || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = s.do("GET", StatusPath, "admin", "application/xml", "")
	if w.Code != 503 || !strings.Contains(w.Body.String(), "<status><status-code>503</status-code><message>The exporter at") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// The database is what the cluster's answer needs.
	s.nodes.err = fault.New(fault.Unavailable, "The database does not answer.")
	if w := s.do("GET", basePath+"/clusterStatus", "admin", "", ""); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

// What has no place in the mail queue API: age and error of a sample.
func TestListNodes(t *testing.T) {
	s := newServer(t)
	s.nodes.list = []cluster.Node{
		{ID: "node_1", State: cluster.Active, Address: "http://a", Version: "v1", StartedAt: queuedAt, BeatAt: queuedAt, ChangedAt: queuedAt},
		{ID: "node_2", State: cluster.Offline},
	}
	must(t, s.store.Record(t.Context(), "node_1", "postfix", Sizes{60, 0}, nil))
	must(t, s.store.Record(t.Context(), "node_1", "postfix", Sizes{}, fault.New(fault.Unavailable, "It is down.")))
	shift(t, s.store.db, 10*time.Second)
	s.relay.queues = []Queue{{NodeID: "node_2", Sizes: Sizes{1, 0}, Oldest: queuedAt}}
	w := s.do("GET", nodesPath, "admin", "", "")
	var got struct{ Items []map[string]any }
	must(t, json.Unmarshal(w.Body.Bytes(), &got))
	if len(got.Items) != 2 {
		t.Fatal(w.Body)
	}
	one, two := got.Items[0], got.Items[1]
	if age := one["sampleAge"].(float64); age < 10 || age > 60 {
		t.Errorf("sampleAge is %v", age)
	}
	for _, volatile := range []string{"sampledAt", "sampleAge", "failingSince"} {
		if one[volatile] == nil {
			t.Errorf("%s is missing", volatile)
		}
		delete(one, volatile)
	}
	want := map[string]any{
		"nodeId": "node_1", "nodeState": "ACTIVE", "watched": false, "self": true, "address": "http://a", "version": "v1",
		"startedAt": "2026-02-05T16:20:11Z", "seenAt": "2026-02-05T16:20:11Z", "changedAt": "2026-02-05T16:20:11Z",
		"source": "postfix", "mailQueue": map[string]any{"size": 60.0, "errorSize": 0.0}, "sampleError": "It is down.",
		"verdict": "attention", "reason": "60 messages are waiting.",
	}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Error(diff)
	}
	if two["source"] != "relay" || two["verdict"] != "act" || two["oldestAt"] != "2026-02-05T16:20:11Z" || two["self"] != false {
		t.Error(two)
	}
}

func TestAdministerNodes(t *testing.T) {
	s := newServer(t)
	for id, state := range map[string]cluster.State{"node_1": cluster.Active, "node_2": cluster.Offline, "node_3": cluster.Passive, "node_4": cluster.Offline} {
		insertNode(t, s.store.db, id, state)
		s.nodes.list = append(s.nodes.list, cluster.Node{ID: id, State: state})
	}
	_, l := lease(t, s.store.db, "w")
	must(t, s.store.KeepWatched(t.Context(), l, []WatchedNode{{"jira_1", "jmx"}}))
	s.relay.queues = []Queue{{NodeID: "node_2", Sizes: Sizes{7, 0}}, {NodeID: "node_4"}}

	for _, test := range []struct {
		method, path, who, body string
		status                  int
		want                    string
	}{
		{"POST", "/node_1/drain", "admin", "", 403, ""},
		{"POST", "/node_1/drain", "root", "", 204, ""},
		{"POST", "/node_1/resume", "root", "", 204, ""},
		{"POST", "/node_9/drain", "root", "", 404, "There is no node node_9."},
		{"POST", "/jira_1/drain", "root", "", 409, "The node jira_1 is only watched; mail.nodes of the settings says which nodes are."},
		{"POST", "/node_1/handover", "root", "{}", 409, "The node node_1 is ACTIVE and sends its messages itself: drain it first, or wait until it is OFFLINE."},
		{"POST", "/node_2/handover", "root", "{}", 200, `{"messages":7}`},
		{"POST", "/node_3/handover", "root", `{"to":"node_1"}`, 200, `{"messages":7}`},
		{"POST", "/node_2/handover", "root", `{"to":"node_9"}`, 400, "There is no node node_9."},
		{"POST", "/node_2/handover", "root", `{"to":"jira_1"}`, 400, "is only watched"},
		{"POST", "/node_2/handover", "root", `{"to":"node_2"}`, 400, "These are the messages of node_2 already"},
		{"POST", "/node_2/handover", "root", `{"to":"node_3"}`, 409, "The node node_3 is PASSIVE: only an ACTIVE node can take messages over."},
		{"DELETE", "/node_1", "root", "", 409, "The node node_1 is ACTIVE: only an OFFLINE node can be removed."},
		{"DELETE", "/jira_1", "root", "", 409, "is only watched"},
		{"DELETE", "/node_4", "admin", "", 403, ""},
		{"DELETE", "/node_4", "root", "", 204, ""},
		{"DELETE", "/node_2", "root", "", 204, ""},
		{"DELETE", "/node_9", "root", "", 404, "There is no node node_9."},
	} {
		w := s.do(test.method, nodesPath+test.path, test.who, "", test.body)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, w.Code, w.Body)
		}
	}
	if diff := cmp.Diff([]string{"drain node_1", "resume node_1"}, s.nodes.did); diff != "" {
		t.Error(diff)
	}
	// A node's messages are handed over before it is removed.
	if diff := cmp.Diff([]string{"hand over node_2 to node_1", "hand over node_3 to node_1", "hand over node_2 to node_1"}, s.relay.did); diff != "" {
		t.Error(diff)
	}
	if n := rows(t, s.store.db, "cluster_nodes"); n != 2 {
		t.Errorf("%d nodes are left", n)
	}
}

func TestAdministerMail(t *testing.T) {
	s := newServer(t)
	s.relay.messages = someMessages()
	s.relay.queues = []Queue{{NodeID: "node_1", Sizes: Sizes{2, 1}, Oldest: queuedAt, Paused: true, HeldUntil: queuedAt, HeldFor: "454 no"}}
	for _, test := range []struct {
		name, method, path, who, body string
		status                        int
	}{
		{"queues", "GET", "", "admin", "", 200},
		{"messages", "GET", "/messages", "admin", "", 200},
		{"errors", "GET", "/messages?state=error&node=node_1", "admin", "", 200},
		{"page", "GET", "/messages?limit=1", "admin", "", 200},
		{"next", "GET", "/messages?limit=1&after=MQ", "admin", "", 200},
		{"wrong", "GET", "/messages?state=sent&after=YQ", "admin", "", 400},
		{"message", "GET", "/messages/1", "admin", "", 200},
		{"missing", "GET", "/messages/99", "root", "", 404},
		{"missing-for-admin", "GET", "/messages/99", "admin", "", 403},
		{"no-number", "DELETE", "/messages/x", "root", "", 404},
		{"resend", "POST", "/messages/2/resend", "admin", "", 204},
		{"resend-missing", "POST", "/messages/99/resend", "root", "", 404},
		{"delete", "DELETE", "/messages/1", "admin", "", 204},
		{"resend-all", "POST", "/resend", "admin", `{"node":"node_1"}`, 200},
		{"resend-some", "POST", "/resend", "admin", `{"recipient":"@old.example","age":"3d"}`, 200},
		{"flush", "POST", "/flush", "admin", "{}", 200},
		{"delete-some", "POST", "/delete", "admin", `{"state":"error","sender":"jira","subject":"x"}`, 200},
		{"delete-all", "POST", "/delete", "admin", `{"all":true}`, 200},
		{"delete-nothing", "POST", "/delete", "admin", `{}`, 400},
		{"delete-wrong", "POST", "/delete", "admin", `{"state":"sent","age":"old"}`, 400},
		{"delete-forbidden", "POST", "/delete", "repo", `{"all":true}`, 403},
		{"pause", "POST", "/pause", "admin", `{"node":"node_1"}`, 204},
		{"resume", "POST", "/resume", "admin", "{}", 204},
		{"unknown-member", "POST", "/flush", "admin", `{"nodes":"x"}`, 400},
		{"forbidden", "POST", "/flush", "repo", "{}", 403},
	} {
		w := s.do(test.method, mailPath+test.path, test.who, "", test.body)
		if w.Code != test.status {
			t.Errorf("%s: %d %s", test.name, w.Code, w.Body)
		}
		if slices.Contains([]string{"queues", "messages", "page", "message", "wrong", "missing"}, test.name) {
			golden(t, "mail-"+test.name+".json", w.Body.String())
		}
	}
	want := []string{"resend 2", "delete 1", `resend map[node:node_1]`, `resend map[age:72h0m0s recipient:@old.example]`, `flush map[]`,
		`delete map[sender:jira state:error subject:x]`, `delete map[]`, `pause "node_1" true`, `pause "" false`}
	if diff := cmp.Diff(want, s.relay.did); diff != "" {
		t.Error(diff)
	}
}
