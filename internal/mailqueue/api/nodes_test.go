package api

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"outrigger/internal/cluster"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
)

// What has no place in the mail queue API: age and error of a sample.
func TestListNodes(t *testing.T) {
	s := newServer(t)
	s.Nodes.List = []cluster.Node{
		{ID: "node_1", State: cluster.Active, Address: "http://a", Version: "v1", StartedAt: mailqueuetest.QueuedAt, BeatAt: mailqueuetest.QueuedAt, ChangedAt: mailqueuetest.QueuedAt},
		{ID: "node_2", State: cluster.Offline},
	}
	must(t, s.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 60, ErrorSize: 0}, nil))
	must(t, s.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, fault.New(fault.Unavailable, "It is down.")))
	must(t, mailqueuetest.Shift(t.Context(), s.DB, 10*time.Second))
	s.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_2", Sizes: mailqueue.Sizes{Size: 1, ErrorSize: 0}, Oldest: mailqueuetest.QueuedAt}}
	w := s.do("GET", NodesPath, "admin", "", "")
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
		must(t, mailqueuetest.InsertNode(t.Context(), s.DB, id, state))
		s.Nodes.List = append(s.Nodes.List, cluster.Node{ID: id, State: state})
	}
	l := lease(t, s.DB, "w")
	must(t, s.Store.KeepWatched(t.Context(), l, []mailqueue.WatchedNode{{ID: "jira_1", Source: "jmx"}}))
	s.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_2", Sizes: mailqueue.Sizes{Size: 7, ErrorSize: 0}}, {NodeID: "node_4"}}

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
		{"POST", "/node_2/handover", "root", `{"to":"node_9","bogus":1}`, 400, `{"field":"to"`},
		{"DELETE", "/node_1", "root", "", 409, "The node node_1 is ACTIVE: only an OFFLINE node can be removed."},
		{"DELETE", "/jira_1", "root", "", 409, "is only watched"},
		{"DELETE", "/node_4", "admin", "", 403, ""},
		{"DELETE", "/node_4", "root", "", 204, ""},
		{"DELETE", "/node_2", "root", "", 204, ""},
		{"DELETE", "/node_9", "root", "", 404, "There is no node node_9."},
	} {
		w := s.do(test.method, NodesPath+test.path, test.who, "", test.body)
		if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s %s %s: %d %s", test.method, test.path, test.body, w.Code, w.Body)
		}
	}
	if diff := cmp.Diff([]string{"drain node_1", "resume node_1"}, s.Nodes.Did); diff != "" {
		t.Error(diff)
	}
	// A node's messages are handed over before it is removed.
	if diff := cmp.Diff([]string{"hand over node_2 to node_1", "hand over node_3 to node_1", "hand over node_2 to node_1"}, s.Relay.Did); diff != "" {
		t.Error(diff)
	}
	if n, err := mailqueuetest.CountRows(t.Context(), s.DB, "cluster_nodes"); err != nil || n != 2 {
		t.Errorf("%d nodes are left", n)
	}
}
