package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/smtp"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// sendMail sends a message to the relay.
func sendMail(a *App, subject string) error {
	body := "Subject: " + subject + "\r\n\r\nhello\r\n"
	return smtp.SendMail(a.MailAddr(), nil, "jira@example.com", []string{"ada@example.com"}, []byte(body))
}

// mailStatus asks for the sizes of the node's queue.
func mailStatus(t *testing.T, a *App) string {
	t.Helper()
	status, body := get(t, a.URL()+"/rest/mailqueue/1.0/status", asAdmin)
	if status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	return body
}

// do sends a request as admin and gives the status.
func do(t *testing.T, method, url, body string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	asAdmin(r)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

// eventually waits until what is so.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	late := time.After(patience)
	for !what() {
		select {
		case <-late:
			t.Fatal("it did not come to be")
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// What the relay has acknowledged is counted, by itself and after a restart; a
// drained node refuses mail and is not ready, and a resumed one takes it again.
func TestMail(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	a := start(t, cfg)
	if got := mailStatus(t, a); got != `{"size":0,"errorSize":0}` {
		t.Error(got)
	}
	if err := sendMail(a, "one"); err != nil {
		t.Fatal(err)
	}
	if got := mailStatus(t, a); got != `{"size":1,"errorSize":0}` {
		t.Error(got)
	}
	if _, body := get(t, a.URL()+"/rest/mailqueue/1.0/clusterStatus", asAdmin); body != `{"nodes":[]}` {
		t.Errorf("without a cluster: %s", body)
	}

	nodes := a.URL() + "/rest/outrigger/1.0/nodes"
	if status := do(t, "POST", nodes+"/n1/drain", ""); status != 204 {
		t.Errorf("drain: %d", status)
	}
	if err := sendMail(a, "refused"); err == nil || !strings.HasPrefix(err.Error(), "421 ") {
		t.Errorf("to a drained node: %v", err)
	}
	if status, _ := get(t, a.URL()+"/readyz"); status != 503 {
		t.Errorf("readyz of a drained node: %d", status)
	}
	eventually(t, func() bool {
		_, body := get(t, nodes, asAdmin)
		return strings.Contains(body, `"nodeState":"PASSIVE"`)
	})
	if status := do(t, "POST", nodes+"/n1/resume", ""); status != 204 {
		t.Errorf("resume: %d", status)
	}
	if err := sendMail(a, "two"); err != nil {
		t.Errorf("to a resumed node: %v", err)
	}
	if err := a.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	again := start(t, cfg)
	if got := mailStatus(t, again); got != `{"size":2,"errorSize":0}` {
		t.Errorf("after a restart: %s", got)
	}
	if _, body := get(t, again.URL()+"/metrics", asAdmin); !strings.Contains(body, `outrigger_mail_queue_messages{node="n1"} 2`) {
		t.Error("the figures do not say so")
	}
}

// The numbers come from where the settings say, for this node and for those
// that are only watched.
func TestMailSources(t *testing.T) {
	t.Parallel()
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/metrics":
			fmt.Fprintln(w, "jira_mail_queue_gauge 26\njira_mail_queue_error_gauge 2")
		case "/jolokia/":
			fmt.Fprint(w, `[{"status":200,"value":5},{"status":200,"value":0}]`)
		case "/other/rest/mailqueue/1.0/status":
			fmt.Fprint(w, `{"size":7,"errorSize":1}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer host.Close()
	cfg := settings(t)
	cfg.Mail.Listen = config.MailOff
	cfg.Mail.Source, cfg.Mail.JMX.URL = config.SourceJMX, host.URL+"/metrics"
	cfg.Mail.Nodes = []config.MailNode{
		{NodeID: "jira_2", Source: config.SourceJMX, JMX: config.MailJMX{URL: host.URL + "/jolokia/", Kind: config.JMXJolokia}},
		{NodeID: "jira_1", Source: config.SourceRemote, Remote: config.MailRemote{URL: host.URL + "/other"}},
		{NodeID: "jira_3", Source: config.SourceJMX, JMX: config.MailJMX{URL: host.URL + "/nowhere", Kind: config.JMXPrometheus}},
		{NodeID: "jira_4", Source: config.SourcePostfix, Postfix: config.MailPostfix{Postqueue: "/nowhere/postqueue"}},
	}
	a := start(t, cfg)
	if got := mailStatus(t, a); got != `{"size":26,"errorSize":2}` {
		t.Error(got)
	}
	want := `{"nodes":[{"nodeId":"jira_1","nodeState":"ACTIVE","isClustered":true,"mailQueue":{"size":7,"errorSize":1}},` +
		`{"nodeId":"jira_2","nodeState":"ACTIVE","isClustered":true,"mailQueue":{"size":5,"errorSize":0}},` +
		`{"nodeId":"jira_3","nodeState":"OFFLINE","isClustered":true,"mailQueue":{"size":0,"errorSize":0}},` +
		`{"nodeId":"jira_4","nodeState":"OFFLINE","isClustered":true,"mailQueue":{"size":0,"errorSize":0}}]}`
	eventually(t, func() bool {
		_, body := get(t, a.URL()+"/rest/mailqueue/1.0/clusterStatus", asAdmin)
		return body == want
	})
	eventually(t, func() bool {
		_, body := get(t, a.URL()+"/rest/outrigger/1.0/nodes", asAdmin)
		return strings.Contains(body, "answered 404 Not Found.") && strings.Contains(body, "The local Postfix cannot be asked: /nowhere/postqueue cannot be run.")
	})
	if a.MailAddr() != "" {
		t.Error("the relay listens")
	}
	host.Close()
	status, body := get(t, a.URL()+"/rest/mailqueue/1.0/status", asAdmin)
	if status != 503 || !strings.Contains(body, "The exporter at "+host.URL+" did not answer: ") {
		t.Errorf("%d %s", status, body)
	}
	if _, body := get(t, a.URL()+"/rest/outrigger/1.0/nodes", asAdmin); !strings.Contains(body, `"mailQueue":{"size":26,"errorSize":2}`) {
		t.Errorf("the last sizes are gone: %s", body)
	}

	cfg = settings(t)
	cfg.Mail.Source, cfg.Mail.JMX.URL, cfg.Mail.JMX.Size = config.SourceJMX, host.URL, "no metric"
	wrong := newApp(t, cfg, Options{})
	if err := wrong.Start(t.Context()); err == nil || !strings.Contains(err.Error(), `mail.source: "no metric" is no metric`) {
		t.Error(err)
	}
}

// In a cluster any node answers for all. One that has stopped stays listed with
// its messages, which go to another on an administrator's word, or by
// themselves.
func TestMailOfACluster(t *testing.T) {
	t.Parallel()
	url := secret.New(dbtest.PostgresURL(t, migrations()...))
	node := func(id string) *config.Config {
		cfg := settings(t)
		cfg.NodeID, cfg.DatabaseURL, cfg.Cluster.Enabled = id, url, true
		cfg.SecretKey = secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
		cfg.Mail.HandoverAfter = config.Duration(time.Hour)
		return cfg
	}
	one, two := start(t, node("one")), start(t, node("two"))
	for range 3 {
		if err := sendMail(two, "x"); err != nil {
			t.Fatal(err)
		}
	}
	status := func(nodeOne, nodeTwo string) string {
		part := `{"nodeId":%q,"nodeState":%q,"isClustered":true,"mailQueue":{"size":%s,"errorSize":0}}`
		a, b := strings.Fields(nodeOne), strings.Fields(nodeTwo)
		return fmt.Sprintf(`{"nodes":[`+part+","+part+"]}", "one", a[0], a[1], "two", b[0], b[1])
	}
	for _, a := range []*App{one, two} {
		if _, body := get(t, a.URL()+"/rest/mailqueue/1.0/clusterStatus", asAdmin); body != status("ACTIVE 0", "ACTIVE 3") {
			t.Errorf("%s: %s", a.nodeID, body)
		}
	}
	nodes := one.URL() + "/rest/outrigger/1.0/nodes"
	if got := do(t, "POST", nodes+"/two/handover", "{}"); got != 409 {
		t.Errorf("a node that sends: %d", got)
	}
	if err := two.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if _, body := get(t, one.URL()+"/rest/mailqueue/1.0/clusterStatus", asAdmin); body != status("ACTIVE 0", "OFFLINE 3") {
		t.Errorf("when it has stopped: %s", body)
	}
	if got := do(t, "POST", nodes+"/two/handover", "{}"); got != 200 {
		t.Errorf("handover: %d", got)
	}
	if _, body := get(t, one.URL()+"/rest/mailqueue/1.0/clusterStatus", asAdmin); body != status("ACTIVE 3", "OFFLINE 0") {
		t.Errorf("when its messages were handed over: %s", body)
	}
	if got := do(t, "DELETE", nodes+"/two", ""); got != 204 {
		t.Errorf("remove: %d", got)
	}
	var left struct{ Nodes []struct{ NodeID string } }
	_, body := get(t, one.URL()+"/rest/mailqueue/1.0/clusterStatus", asAdmin)
	if err := json.Unmarshal([]byte(body), &left); err != nil || len(left.Nodes) != 1 {
		t.Errorf("%s, %v", body, err)
	}

	// By themselves, after mail.handover_after.
	again := start(t, node("two"))
	if err := sendMail(again, "x"); err != nil {
		t.Fatal(err)
	}
	if err := again.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	soon := node("three")
	soon.Mail.HandoverAfter = config.Duration(time.Second)
	three := start(t, soon)
	eventually(t, func() bool {
		return mailStatus(t, three) == `{"size":1,"errorSize":0}` || mailStatus(t, one) == `{"size":4,"errorSize":0}`
	})
}

// A node on which no mail can come in does not pass for one whose queue is fine.
func TestMailPageWithoutAListener(t *testing.T) {
	t.Parallel()
	for _, listen := range []string{config.MailOff, "127.0.0.1:0"} {
		cfg := settings(t)
		cfg.Mail.Listen = listen
		a := start(t, cfg)
		_, body := consolePage(t, a, "/mail", nil)
		off := listen == config.MailOff
		if strings.Contains(body, `badge quiet">not listening`) != off || strings.Contains(body, "(mail.listen is off)") != off || strings.Contains(body, `badge good">fine`) == off {
			t.Errorf("mail.listen %s: %s", listen, body)
		}
	}
}
