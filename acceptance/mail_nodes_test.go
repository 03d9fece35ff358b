package acceptance

import (
	"crypto/rand"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"outrigger/internal/dbtest"
	"outrigger/internal/loadtest"
	"outrigger/internal/playground/smarthost"
)

// clusterNode is a node as GET /clusterStatus lists it.
type clusterNode struct {
	NodeID, NodeState string
	IsClustered       bool
	MailQueue         sizes
}

func clusterStatus(t *testing.T, p *loadtest.Process) map[string]clusterNode {
	t.Helper()
	var answer struct{ Nodes []clusterNode }
	ask(t, p, "/rest/mailqueue/1.0/clusterStatus", &answer)
	nodes := make(map[string]clusterNode)
	for _, n := range answer.Nodes {
		nodes[n.NodeID] = n
	}
	return nodes
}

// TestThreeMailNodes fills three nodes' queues with different numbers of
// messages. Any node tells of all; a killed one is OFFLINE within 25 s and
// still listed with its messages; they go out from another node, at an
// administrator's word, and by themselves after the handover time.
func TestThreeMailNodes(t *testing.T) {
	t.Parallel()
	const handover = 12 * time.Second
	host, at := smarthostAt(t, 1000)
	host.SetFaultMode(smarthost.Defers)
	key := make([]byte, 32)
	rand.Read(key) // never fails (crypto/rand)
	url := dbtest.PostgresURL(t)
	queued := map[string]int{"a": 3, "b": 5, "c": 7}
	nodes := make(map[string]*loadtest.Process)
	for _, id := range []string{"a", "b", "c"} {
		nodes[id] = node(t, loadtest.Settings{
			DatabaseURL: url, NodeID: id, SecretKey: base64.StdEncoding.EncodeToString(key), Clustered: true,
			MailListen: freeAddress(t), Smarthost: at, Handover: handover.String(),
		})
		start(t, nodes[id])
	}
	for id, n := range queued {
		source(t, nodes[id].Settings.MailListen, n)
	}
	for id, p := range nodes {
		if s := mailStatus(t, p); s != (sizes{Size: int64(queued[id])}) {
			t.Errorf("node %s says %+v of itself, want %d", id, s, queued[id])
		}
		for other, n := range clusterStatus(t, p) {
			if n.NodeState != "ACTIVE" || !n.IsClustered || n.MailQueue != (sizes{Size: int64(queued[other])}) {
				t.Errorf("node %s says of %s: %+v, want %d", id, other, n, queued[other])
			}
		}
	}
	offline := func(id string) {
		t.Helper()
		nodes[id].Kill()
		until(t, patience, id+" is not OFFLINE", func() bool { return clusterStatus(t, nodes["a"])[id].NodeState == "OFFLINE" })
		if n := clusterStatus(t, nodes["a"])[id]; n.MailQueue != (sizes{Size: int64(queued[id])}) {
			t.Errorf("%s is listed with %+v, want its %d messages", id, n.MailQueue, queued[id])
		}
	}
	offline("c")
	host.SetFaultMode(smarthost.Accepts)
	order(t, nodes["a"], "/rest/outrigger/1.0/nodes/c/handover", `{"to":"a"}`)
	order(t, nodes["a"], "/rest/outrigger/1.0/mail/flush", `{}`)
	until(t, patience, "c's messages were not handed over", func() bool {
		return clusterStatus(t, nodes["a"])["c"].MailQueue == sizes{} && len(messageIDs(host)) >= queued["a"]+queued["c"]
	})

	until(t, patience, "b's own messages did not go out", func() bool { return mailStatus(t, nodes["b"]) == sizes{} })

	host.SetFaultMode(smarthost.Away)
	source(t, nodes["b"].Settings.MailListen, 2)
	queued["b"] = 2
	offline("b")
	host.SetFaultMode(smarthost.Accepts)
	until(t, handover+patience, "b's messages did not go out by themselves", func() bool {
		return clusterStatus(t, nodes["a"])["b"].MailQueue == sizes{} && mailStatus(t, nodes["a"]) == sizes{}
	})
	if ids := messageIDs(host); len(ids) != 3+5+7+2 {
		t.Errorf("%d messages arrived, want 17", len(ids))
	}
}

// order asks a node to do something, as admin.
func order(t *testing.T, p *loadtest.Process, path, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+p.Addr()+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	r.Header.Set("Content-Type", "application/json")
	r.Close = true
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode/100 != 2 {
		answer, _ := io.ReadAll(resp.Body) // for the message only
		t.Fatalf("POST %s: %s %s", path, resp.Status, answer)
	}
}
