package api

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/cluster"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
)

const base = "/rest/mailqueue/1.0"

// Both endpoints, to the letter, in both formats.
func TestWire(t *testing.T) {
	for _, test := range []struct {
		name, path string
		setUp      func(*server)
	}{
		{"status", "/status", func(*server) {}},
		{"cluster-empty", "/clusterStatus", func(s *server) {
			s.Service.Clustered = false
			s.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}}
		}},
		{"cluster-one", "/clusterStatus", func(s *server) {
			s.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}}
			must(s.t, s.Store.Record(s.t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil))
		}},
		{"cluster-three", "/clusterStatus", func(s *server) {
			// The first is OFFLINE with nothing left, the second has its
			// messages in the database, the third has a source of its own.
			s.Nodes.List = []cluster.Node{{ID: "node_3", State: cluster.Active}, {ID: "node_1", State: cluster.Passive}, {ID: "node_2", State: cluster.Offline}}
			s.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_1", Sizes: mailqueue.Sizes{Size: 4, ErrorSize: 1}}, {NodeID: "node_2"}}
			must(s.t, s.Store.Record(s.t.Context(), "node_1", "relay", mailqueue.Sizes{Size: 99, ErrorSize: 99}, nil))
			must(s.t, s.Store.Record(s.t.Context(), "node_2", "relay", mailqueue.Sizes{Size: 99, ErrorSize: 99}, nil))
			must(s.t, s.Store.Record(s.t.Context(), "node_3", "jmx", mailqueue.Sizes{Size: 120, ErrorSize: 0}, nil))
		}},
		{"cluster-offline", "/clusterStatus", func(s *server) {
			s.Nodes.List = []cluster.Node{{ID: "node_2", State: cluster.Offline}}
			s.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_2", Sizes: mailqueue.Sizes{Size: 7, ErrorSize: 3}}}
		}},
		{"cluster-failing", "/clusterStatus", func(s *server) {
			s.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}}
			must(s.t, s.Store.Record(s.t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil))
			must(s.t, s.Store.Record(s.t.Context(), "node_1", "postfix", mailqueue.Sizes{}, fault.New(fault.Unavailable, "It is down.")))
		}},
		{"cluster-never-sampled", "/clusterStatus", func(s *server) {
			s.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Activating}}
		}},
		{"cluster-watched", "/clusterStatus", func(s *server) {
			// Without a cluster exactly the nodes that are watched are listed.
			s.Service.Clustered = false
			s.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}}
			l := lease(s.t, s.DB, "w")
			must(s.t, s.Store.KeepWatched(s.t.Context(), l, []mailqueue.WatchedNode{{ID: "jira & co", Source: "jmx"}, {ID: "jira_1", Source: "jmx"}}))
			must(s.t, s.Store.RecordWatched(s.t.Context(), l, "jira_1", mailqueue.Sizes{Size: 26, ErrorSize: 2}, nil))
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			test.setUp(s)
			for _, f := range []struct{ name, mediaType string }{{"json", "application/json"}, {"xml", "application/xml"}} {
				w := s.do("GET", base+test.path, "admin", f.mediaType, "")
				if w.Code != 200 || w.Header().Get("Content-Type") != f.mediaType || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("Vary") != "Accept" {
					t.Errorf("%s: %d %v", f.name, w.Code, w.Header())
				}
				golden(t, test.name+"."+f.name, w.Body.String())
				suffixed := s.do("GET", base+test.path+"."+f.name, "admin", "", "")
				if suffixed.Body.String() != w.Body.String() {
					t.Errorf("by suffix: %s", suffixed.Body)
				}
			}
			plain := s.do("GET", base+test.path, "admin", "", "")
			if !json.Valid(plain.Body.Bytes()) {
				t.Errorf("without Accept: %s", plain.Body)
			}
		})
	}
}

// The XML is well-formed and says what the JSON says.
func TestXMLReadsBack(t *testing.T) {
	for _, name := range []string{"cluster-empty", "cluster-three", "cluster-watched"} {
		var fromXML, fromJSON mailqueue.ClusterMailQueue
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

// SYS_ADMIN, ADMIN and tokens made for monitors may ask; others are refused.
func TestWhoMayAsk(t *testing.T) {
	s := newServer(t)
	for _, path := range []string{base + "/status", base + "/clusterStatus"} {
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
	for _, path := range []string{NodesPath, MailPath, MessagesPath} {
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
	s.Source.Err = fault.New(fault.Unavailable, "The exporter at http://jira:9090 did not answer: it took longer than 5s.")
	w := s.do("GET", mailqueue.StatusPath, "admin", "application/json", "")
	if want := `{"status-code":503,"message":"The exporter at http://jira:9090 did not answer: it took longer than 5s."}`; w.Code != 503 || w.Body.String() != want {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	w = s.do("GET", mailqueue.StatusPath, "admin", "application/xml", "")
	if w.Code != 503 || !strings.Contains(w.Body.String(), "<status><status-code>503</status-code><message>The exporter at") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// The database is what the cluster's answer needs.
	s.Nodes.Err = fault.New(fault.Unavailable, "The database does not answer.")
	if w := s.do("GET", base+"/clusterStatus", "admin", "", ""); w.Code != 503 {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
