package pages

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/cluster"
	"outrigger/internal/console"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/identity"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/mailqueue"
	"outrigger/internal/mailqueue/mailqueuetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// browser is the wing's pages behind the console.
type browser struct {
	*mailqueuetest.World
	t       *testing.T
	handler http.Handler
	held    bool
}

func newBrowser(t *testing.T) *browser {
	d := dbtest.SQLite(t, mailqueuetest.Schema...)
	must(t, d.Migrate(t.Context(), mailqueuetest.Schema...))
	world := mailqueuetest.NewWorld(d)
	c, err := console.New(console.Options{Identity: identitytest.Everybody(), BaseURL: "https://tools.example.com/outrigger"})
	must(t, err)
	b := &browser{World: world, t: t}
	(&Pages{Service: world.Service, Relay: world.Relay, Held: func(context.Context) (bool, error) { return b.held, nil }}).Register(c)
	b.handler, err = c.Handler()
	must(t, err)
	t.Cleanup(c.Stop)
	return b
}

// open asks for a page, or posts a form, and gives the answer. The values of the
// field ids are ids, each for itself.
func (b *browser) open(method, path, who string, form ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	values := url.Values{}
	for i := 0; i+1 < len(form); i += 2 {
		if values.Set(form[i], form[i+1]); form[i] == "ids" {
			values["id"] = strings.Fields(form[i+1])
		}
	}
	r := httptest.NewRequestWithContext(b.t.Context(), method, "https://tools.example.com/outrigger"+path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: who})
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, r)
	return w
}

func (b *browser) has(w *httptest.ResponseRecorder, texts ...string) {
	b.t.Helper()
	if w.Code != 200 {
		b.t.Errorf("status %d", w.Code)
	}
	page := strings.Join(strings.Fields(w.Body.String()), " ")
	for _, text := range texts {
		if !strings.Contains(page, text) {
			b.t.Errorf("%q is missing in\n%s", text, page)
		}
	}
}

func TestQueuesPage(t *testing.T) {
	b := newBrowser(t)
	b.has(b.open("GET", "/mail", "admin"), "No nodes")
	b.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}, {ID: "node_2", State: cluster.Offline}, {ID: "node_3", State: cluster.Activating}}
	must(t, b.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 60, ErrorSize: 0}, nil))
	must(t, b.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, fault.New(fault.Unavailable, "It is down.")))
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_2", Sizes: mailqueue.Sizes{Size: 1, ErrorSize: 2}, Oldest: time.Now(), Paused: true}}
	page := b.open("GET", "/mail", "admin")
	b.has(page,
		`<h2>node_1 <span class="badge good">ACTIVE</span> <small>postfix</small></h2>`, `?state=waiting&amp;node=node_1">60<`,
		`<p>It is down.</p>`, `<span class="badge warn">needs attention</span> 60 messages are waiting.`,
		`aria-label="The last 24 hours: at most 60 in the mail queue, at most 0 in the error queue."`, `<polyline class="busy" points="`, `>60 messages</p>`,
		`<span class="badge bad">OFFLINE</span>`, `<span class="badge warn">paused</span> An administrator paused sending.`, `The oldest came <time`, `<span class="badge bad">needs action</span>`,
		`action="/outrigger/mail/resume"><input type="hidden" name="node" value="node_2">`, `Resend errors`,
		`source unknown`, `<span class="quiet">never</span>`, `<span class="badge quiet">not known</span>`, "No data yet.",
		`href="/outrigger/assets/console.`)
	if strings.Contains(page.Body.String(), "style=") {
		t.Error("there is an inline style, which the content security policy does not let through")
	}
	b.held = true
	b.has(b.open("GET", "/mail", "admin"), `<span class="badge warn">paused</span> `+unconfirmed)
	if w := b.open("GET", "/mail", "repo"); w.Code != 403 {
		t.Errorf("for somebody without ADMIN: %d", w.Code)
	}
}

func TestQueueActions(t *testing.T) {
	b := newBrowser(t)
	b.Relay.Mail = mailqueuetest.Messages()[1:] // one that waits and failed
	for _, path := range []string{"/mail/flush", "/mail/resend", "/mail/pause", "/mail/resume"} {
		if w := b.open("POST", path, "admin", "node", "node_1"); w.Code != 303 || w.Header().Get("Location") != "/outrigger/mail" {
			t.Errorf("%s: %d %v", path, w.Code, w.Header())
		}
		if w := b.open("POST", path, "repo", "node", "node_1"); w.Code != 403 {
			t.Errorf("%s for somebody without ADMIN: %d", path, w.Code)
		}
	}
	want := []string{`flush map[node:node_1]`, `resend map[node:node_1]`, `pause "node_1" true`, `pause "node_1" false`}
	if diff := cmp.Diff(want, b.Relay.Did); diff != "" {
		t.Error(diff)
	}
}

func TestMessagePages(t *testing.T) {
	b := newBrowser(t)
	b.has(b.open("GET", "/mail/messages", "admin"), "No messages")
	b.has(b.open("GET", "/mail/messages?state=error", "admin"), "The error queue is empty")
	b.Relay.Mail = mailqueuetest.Messages()
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_1"}}
	b.has(b.open("GET", "/mail/messages", "admin"),
		"Your issue &lt;script&gt;", "no subject", "bob@example.com, eve@example.com, kim@example.com</span>",
		`<a class="note" href="/outrigger/mail/messages/2">and 1 more<span class="unseen"> of message 2</span></a>`,
		`<span class="badge busy">waiting</span> <span class="badge bad">error</span>`, "550 5.1.1 no such user", `<option value="node_1">`)
	b.held = true
	b.has(b.open("GET", "/mail/messages/1", "admin"), "It is on hold. "+unconfirmed)
	b.held = false
	errorsOnly := b.open("GET", "/mail/messages?state=error&node=node_1", "admin")
	b.has(errorsOnly, `<option value="node_1" selected>`, `aria-current="page"`)
	if strings.Contains(errorsOnly.Body.String(), "Your issue") {
		t.Error("what waits is listed in the error queue")
	}
	b.has(b.open("GET", "/mail/messages/1", "admin"), "451", "4.3.0 try again", "250 ms", "&lt;1@example.com&gt;", "ada@example.com")
	b.has(b.open("GET", "/mail/messages/2", "admin"), "none (automatic reply)", "action=\"/outrigger/mail/messages/2/resend\"", "sent", "lee@example.com")
	b.has(b.open("GET", "/mail/messages/1/content", "admin"), `tabindex="0" role="group" aria-label="Content">`, "Subject: &lt;b&gt;x&lt;/b&gt;", "bytes \uFFFD")
	b.has(b.open("GET", "/mail/messages/2/delete", "admin"), "Delete the message “Message 2”?", "It has not reached 3 of 4 recipients, who will not get it.")
	for path, want := range map[string]int{
		"/mail/messages/2/resend": 303, "/mail/messages/1/delete": 303, "/mail/messages/99/delete": 303, "/mail/messages/99/resend": 403,
	} {
		if w := b.open("POST", path, "admin"); w.Code != want {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/mail/messages/99", "/mail/messages/x", "/mail/messages/99/content", "/mail/messages/99/delete"} {
		if w := b.open("GET", path, "root"); w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

// What is done to a list is done to what its filter selects.
// What is ticked in the list is resent, flushed or deleted together; deleting asks
// first, and what the list showed is shown again.
func TestTickedMessages(t *testing.T) {
	b := newBrowser(t)
	b.Relay.Mail = mailqueuetest.Messages()
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_1"}}
	b.has(b.open("GET", "/mail/messages?sender=jira&state=error", "admin"),
		`<input type="hidden" name="sender" value="jira">`, `<input type="hidden" name="state" value="error">`,
		`name="id" value="2" aria-label="Select message 2"`, `<button type="submit" name="do" value="resend">Resend</button>`, `<button type="submit" name="do" value="delete">Delete</button>`)
	const selected = "/mail/messages/selected"
	for _, do := range []string{"resend", "flush"} {
		w := b.open("POST", selected, "admin", "do", do, "id", "2", "state", "error", "sender", "jira")
		if w.Code != 303 || w.Header().Get("Location") != "/outrigger/mail/messages?sender=jira&state=error" {
			t.Errorf("%s: %d %v", do, w.Code, w.Header())
		}
	}
	b.has(b.open("POST", selected, "admin", "do", "delete", "id", "1", "sender", "jira"), "Delete 1 message?",
		`<input type="hidden" name="id" value="1">`, `<input type="hidden" name="asOf" value="2026-02-05T16:20:11Z">`, `<input type="hidden" name="count" value="1">`, `<input type="hidden" name="sender" value="jira">`)
	if w := b.open("POST", selected, "admin", "do", "delete", "id", "1", "asOf", "2026-02-05T16:20:11Z", "count", "1"); w.Code != 303 {
		t.Errorf("delete: %d", w.Code)
	}
	for form, want := range map[[4]string]int{
		{"do", "resend", "", ""}: 303, {"do", "resend", "id", "x"}: 400, {"do", "burn", "id", "1"}: 400,
	} {
		if w := b.open("POST", selected, "admin", form[:]...); w.Code != want {
			t.Errorf("%v: %d, want %d", form, w.Code, want)
		}
	}
	if w := b.open("POST", selected, "repo", "do", "delete", "id", "1", "asOf", "2026-02-05T16:20:11Z", "count", "1"); w.Code != 403 {
		t.Errorf("for somebody without ADMIN: %d", w.Code)
	}
	if diff := cmp.Diff([]string{"resend map[id:2]", "flush map[id:2]", "delete map[asOf:2026-02-05T16:20:11Z count:1 id:1]"}, b.Relay.Did); diff != "" {
		t.Error(diff)
	}
}

func TestManyMessages(t *testing.T) {
	b := newBrowser(t)
	b.Relay.Mail = mailqueuetest.Messages()
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_1"}}
	const query = "?recipient=%40old.example&state=error"
	b.has(b.open("GET", "/mail/messages"+query, "admin"), `name="recipient" value="@old.example"`,
		`href="/outrigger/mail/messages/resend?recipient=%40old.example&amp;state=error" data-confirm`, `href="/outrigger/mail/messages/delete?recipient=%40old.example&amp;state=error"`)
	b.has(b.open("GET", "/mail/messages/delete"+query, "admin"), "Delete 1 message?", "These are all in the error queue with recipient “@old.example”.",
		`action="/outrigger/mail/messages/delete?recipient=%40old.example&amp;state=error"`)
	b.has(b.open("GET", "/mail/messages/delete", "admin"), "Delete 2 messages?", "These are messages of every node.", `<button type="submit" class="danger">Delete 2 messages</button>`)
	b.Relay.Mail = append(slices.Repeat(b.Relay.Mail[:1], 1001), slices.Repeat(b.Relay.Mail[1:], 30)...)
	for i := range b.Relay.Mail {
		b.Relay.Mail[i].ID = int64(i + 1)
	}
	for what, asks := range map[string]string{"delete": "Delete 1,031 messages?", "resend": "Resend 30 messages?", "flush": "Send 1,031 messages now?"} {
		colour := map[bool]string{true: `class="danger"`, false: `class="main"`}[what == "delete"]
		b.has(b.open("GET", "/mail/messages/"+what, "admin"), asks, colour)
		b.has(b.open("POST", "/mail/messages/"+what, "admin"), asks)
	}
	b.has(b.open("GET", "/mail/flush?node=node_1", "admin"), "Send 1,031 messages now?", `name="node" value="node_1"`, `action="/outrigger/mail/flush"`)
	b.has(b.open("POST", "/mail/resend", "admin", "node", "node_1"), "Resend 30 messages?", `name="node" value="node_1"`)
	b.has(b.open("POST", "/mail/messages/selected", "admin", "do", "resend", "ids", "1 1002 1003"), "Resend 2 messages?", "1 message is left as before: not in the error queue.")
	if w := b.open("GET", "/mail/resend?node=node_9", "admin"); w.Code != 303 {
		t.Errorf("a question about nothing: %d", w.Code)
	}
	if len(b.Relay.Did) > 0 {
		t.Errorf("done before the answer: %v", b.Relay.Did)
	}
	for _, wrong := range []string{"x", "-"} {
		if w := b.open("POST", "/mail/flush", "admin", "asOf", wrong, "count", wrong); w.Code != 400 {
			t.Errorf("an answer that cannot be read: %d", w.Code)
		}
	}
	for _, what := range []string{"resend", "flush", "delete"} {
		w := b.open("POST", "/mail/messages/"+what+query, "admin", "asOf", "2026-02-05T16:20:11Z", "count", "3")
		if w.Code != 303 || w.Header().Get("Location") != "/outrigger/mail/messages"+query {
			t.Errorf("%s: %d %v", what, w.Code, w.Header())
		}
		if w := b.open("POST", "/mail/messages/"+what+query, "repo"); w.Code != 403 {
			t.Errorf("%s for somebody without ADMIN: %d", what, w.Code)
		}
	}
	const members = "map[asOf:2026-02-05T16:20:11Z count:3 recipient:@old.example state:error]"
	if diff := cmp.Diff([]string{"resend " + members, "flush " + members, "delete " + members}, b.Relay.Did); diff != "" {
		t.Error(diff)
	}
	if w := b.open("GET", "/mail/messages?age=old", "admin"); w.Code != 400 {
		t.Errorf("a wrong age: %d", w.Code)
	}
	b.has(b.open("GET", "/mail/messages/1", "admin"), `href="/outrigger/rest/outrigger/1.0/mail/messages/1/content" download`)
}

func TestNodesPage(t *testing.T) {
	b := newBrowser(t)
	b.Nodes.List = []cluster.Node{
		{ID: "node_1", State: cluster.Active}, {ID: "node_2", State: cluster.Offline}, {ID: "node_3", State: cluster.Passive, Address: "http://c"},
	}
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_2", Sizes: mailqueue.Sizes{Size: 7, ErrorSize: 0}}}
	must(t, mailqueuetest.InsertNode(t.Context(), b.DB, "node_2", cluster.Offline))
	b.has(b.open("GET", "/system/nodes", "root"), "this node", "/system/nodes/node_1/drain", `action="/outrigger/system/nodes/node_3/resume"`,
		"/system/nodes/node_2/handover", "/system/nodes/node_2/remove", "7 waiting")
	if page := b.open("GET", "/system/nodes", "admin").Body.String(); strings.Contains(page, "node_1/drain") || strings.Contains(page, "node_2/remove") {
		t.Error("somebody without SYS_ADMIN is offered what they may not do")
	}
	for _, what := range []string{"drain", "handover", "remove"} {
		b.has(b.open("GET", "/system/nodes/node_2/"+what, "root"), "<form method=\"post\"", "node_2?")
	}
	for path, want := range map[string]int{
		"/system/nodes/node_1/drain": 303, "/system/nodes/node_3/resume": 303, "/system/nodes/node_2/handover": 303, "/system/nodes/node_1/handover": 409,
	} {
		if w := b.open("POST", path, "root"); w.Code != want {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		if w := b.open("POST", path, "admin"); w.Code != 403 {
			t.Errorf("%s without SYS_ADMIN: %d", path, w.Code)
		}
	}
	if w := b.open("POST", "/system/nodes/node_2/remove", "root"); w.Code != 303 {
		t.Errorf("remove: %d %s", w.Code, w.Body)
	}
	if diff := cmp.Diff([]string{"hand over node_2 to node_1", "hand over node_2 to node_1"}, b.Relay.Did); diff != "" {
		t.Error(diff)
	}
}

func TestOverview(t *testing.T) {
	b := newBrowser(t)
	b.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}, {ID: "node_2", State: cluster.Offline}}
	must(t, b.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 60, ErrorSize: 0}, nil))
	must(t, b.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, fault.New(fault.Unavailable, "It is down.")))
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_2", Sizes: mailqueue.Sizes{Size: 1, ErrorSize: 2}, HeldUntil: time.Now().Add(time.Hour), HeldFor: "535 wrong password"}}
	must(t, mailqueuetest.Shift(t.Context(), b.DB, 3*time.Hour))
	must(t, b.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{Size: 70, ErrorSize: 0}, nil))
	must(t, b.Store.Record(t.Context(), "node_1", "postfix", mailqueue.Sizes{}, fault.New(fault.Unavailable, "It is down.")))
	b.Relay.Stored[0].Oldest, b.Relay.Stored[0].OldestError = time.Now(), time.Now().Add(-50*time.Hour)
	overview := b.open("GET", "/", "admin")
	if n := strings.Count(overview.Body.String(), `class="below since"`); n != 4 {
		t.Errorf("%d of 4 notices say since when", n)
	}
	b.has(overview, "3 hours ago", "2 days ago",
		"Mail on node_1: 70 messages are waiting.", "The mail queue of node_1 cannot be read: It is down.",
		"Mail on node_2: 2 messages are in the error queue", "Mail on node_2: Sending is paused: 535 wrong password",
		`<dt>waiting</dt><dd><a href="/outrigger/mail/messages?state=waiting">71<span class="unseen"> waiting</span></a></dd>`, "<dt>on node_2</dt><dd>3</dd>",
		"The last 24 hours: at most 70 waiting in the mail queue of a node, at most 0 in the error queues.", "waiting, a line for each node")
	if page := b.open("GET", "/", "repo").Body.String(); strings.Contains(page, "Mail queues") {
		t.Error("somebody without ADMIN sees the mail queues")
	}
}

// Where sending is paused until a time, a node and its messages say when they are tried
// next; where somebody must end it, no time is promised.
func TestNextTryOfWhatIsHeld(t *testing.T) {
	b := newBrowser(t)
	b.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}}
	b.Relay.Mail = mailqueuetest.Messages()
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	b.Relay.Stored = []mailqueue.RelayQueue{{NodeID: "node_1", Sizes: mailqueue.Sizes{Size: 1}, HeldUntil: until, HeldFor: "535 wrong password"}}
	at := `Next try <time datetime="` + until.Format(time.RFC3339)
	b.has(b.open("GET", "/mail", "admin"), `<span class="badge warn">paused</span> `+at, "Sending is paused: 535 wrong password")
	message := b.open("GET", "/mail/messages/1", "admin")
	b.has(message, "It is on hold. "+at, "Sending is paused: 535 wrong password", `<td data-label="Next try"><time datetime="`+until.Format(time.RFC3339))
	b.Relay.Stored[0].Paused = true
	for _, path := range []string{"/mail", "/mail/messages/1"} {
		if page := b.open("GET", path, "admin").Body.String(); strings.Contains(page, until.Format(time.RFC3339)) {
			t.Errorf("%s promises a try while an administrator paused sending", path)
		}
	}
}

// What helps against a verdict depends on its reason; a queue elsewhere is only
// watched.
func TestRemedies(t *testing.T) {
	for name, c := range map[string]struct {
		status mailqueue.NodeStatus
		want   console.Remedy
	}{
		"failed":  {mailqueue.NodeStatus{Node: cluster.Node{ID: "a b"}, Queue: &mailqueue.RelayQueue{}, Reading: mailqueue.Reading{Sizes: mailqueue.Sizes{ErrorSize: 1}}}, console.Remedy{Label: "Show the error queue", Of: "a b", Path: "/mail/messages?state=error&node=a%20b"}},
		"waiting": {mailqueue.NodeStatus{Node: cluster.Node{ID: "a"}, Queue: &mailqueue.RelayQueue{}}, console.Remedy{Label: "Flush", Of: "a", Path: "/mail/flush", Posts: []console.Hidden{{Name: "node", Value: "a"}}}},
		"many":    {mailqueue.NodeStatus{Node: cluster.Node{ID: "a b"}, Queue: &mailqueue.RelayQueue{}, Reading: mailqueue.Reading{Sizes: mailqueue.Sizes{Size: 2}}}, console.Remedy{Label: "Flush", Of: "a b", Path: "/mail/flush?node=a%20b", Asks: true}},
		"paused":  {mailqueue.NodeStatus{Node: cluster.Node{ID: "a"}, Queue: &mailqueue.RelayQueue{Paused: true}}, console.Remedy{Label: "Resume", Of: "a", Path: "/mail/resume", Posts: []console.Hidden{{Name: "node", Value: "a"}}}},
		"watched": {mailqueue.NodeStatus{Node: cluster.Node{ID: "a"}, Reading: mailqueue.Reading{Sizes: mailqueue.Sizes{ErrorSize: 1}}}, console.Remedy{}},
	} {
		if diff := cmp.Diff(c.want, remedy(&c.status)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Mail that waits with nowhere to go needs attention at once: on the overview, at its
// node, and at each message, where no time of a next try is promised.
func TestNowhereToSendTo(t *testing.T) {
	b := newBrowser(t)
	b.Nodes.List = []cluster.Node{{ID: "node_1", State: cluster.Active}, {ID: "node_2", State: cluster.Active}, {ID: "node_3", State: cluster.Active}}
	b.Relay.Mail = mailqueuetest.Messages()
	for i, node := range b.Nodes.List {
		waiting := int64(i % 2)
		b.Relay.Stored = append(b.Relay.Stored, mailqueue.RelayQueue{NodeID: node.ID, Sizes: mailqueue.Sizes{Size: 1 - waiting}, NoSmarthost: true, Oldest: time.Now()})
	}
	b.Relay.Stored[1].Oldest = time.Time{}
	const why = "Nothing can be sent: no smarthost is set. Set mail.smarthost on this node and restart it."
	overview := b.open("GET", "/", "admin")
	b.has(overview, "Mail on node_1: "+why, "Mail on node_3: "+why, `href="/outrigger/mail/messages?state=waiting&amp;node=node_3">Show the waiting messages<span class="unseen">: node_3</span></a>`)
	if strings.Contains(overview.Body.String(), "Mail on node_2") {
		t.Error("a node without mail needs attention")
	}
	b.has(b.open("GET", "/mail", "admin"), `<span class="badge warn">needs attention</span> `+why)
	message := b.open("GET", "/mail/messages/1", "admin")
	b.has(message, `It is on hold. `+why, `<td data-label="Next try"><span class="quiet">on hold</span></td>`)
	b.Relay.Stored[0].NoSmarthost, b.Relay.Stored[0].Paused = false, true
	b.has(b.open("GET", "/mail/messages/1", "admin"), "An administrator paused sending.")
	b.Relay.Stored[0].Paused = false
	if w := b.open("GET", "/mail/messages/1", "admin"); strings.Contains(w.Body.String(), "on hold") {
		t.Error("what is sent is on hold")
	}
}
