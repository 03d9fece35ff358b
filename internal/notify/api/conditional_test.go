package api

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// request is one that changes a thing: its path is added to that of the things, %[1]s
// is the id and %[2]s what it changes.
type request struct{ method, path, body string }

// A request with If-Match changes nothing but the version that it names: of a save and
// another change at the same time, both of the version that there is, one is done, and
// the answer to the other is 412 and says whose the first was.
func TestIfMatchHoldsUntilTheChange(t *testing.T) {
	s := newServer(t)
	const connection = `{"name":"second","kind":"bitbucket-dc","baseUrl":"https://git.example.com"}`
	named := `,"id":%[1]s,"channelName":"%[2]s"`
	for _, thing := range []struct {
		path, one, made string
		member          string // that the save changes
		save            request
		others          []request // the last one deletes
	}{
		{filterPath, "?id=%[1]s", fmt.Sprintf(someFilter, ""), "channelName", request{"POST", "", fmt.Sprintf(someFilter, named)}, []request{
			{"PUT", "/enabled?enabled=false&id=%[1]s", ""}, {"DELETE", "?id=%[1]s", ""},
		}},
		{ReportsPath, "?id=%[1]s", fmt.Sprintf(someReport, ""), "channelName", request{"POST", "", fmt.Sprintf(someReport, named)}, []request{
			{"PUT", "/enabled?enabled=false&id=%[1]s", ""}, {"DELETE", "?id=%[1]s", ""},
		}},
		{ChannelsPath, "/%[1]s", `{"webhookUrl":"https://chat.example.com/flow?sig=first"}`, "name", request{"PUT", "/%[1]s", `{"name":"%[2]s"}`}, []request{
			{"PUT", "/%[1]s", `{"webhookUrl":"https://chat.example.com/flow?sig=%[2]s"}`}, {"DELETE", "/%[1]s", ""},
		}},
		{connectionsPath, "/second", connection, "user", request{"PUT", "/second", `{"baseUrl":"https://git.example.com","token":"x","user":"%[2]s"}`}, []request{
			{"DELETE", "/second", ""},
		}},
	} {
		id, saves := "", 0
		do := func(r request, value string, tag ...string) *httptest.ResponseRecorder {
			fill := func(text string) string {
				if !strings.Contains(text, "%[") {
					return text
				}
				return fmt.Sprintf(text+"%.0[1]s%.0[2]s", id, value)
			}
			return s.do(r.method, thing.path+fill(r.path), "root", fill(r.body), tag...)
		}
		create := func() { id = fmt.Sprint(s.want(201, s.do("POST", thing.path, "root", thing.made))["id"]) }
		get := request{"GET", thing.one, ""}
		create()
		for _, change := range append([]request{thing.save}, thing.others...) {
			for range 8 {
				tag := do(get, "").Header().Get("ETag")
				if tag == "" {
					t.Fatalf("%s has no ETag", thing.path)
				}
				saves++
				value := fmt.Sprintf("save %d", saves)
				var saved *httptest.ResponseRecorder
				var both sync.WaitGroup
				both.Go(func() { saved = do(thing.save, value, "If-Match", tag) })
				changed := do(change, value+" too", "If-Match", tag)
				both.Wait()
				switch {
				case saved.Code == 200:
					if m := fmt.Sprint(s.want(412, changed)["message"]); !strings.Contains(m, "root changed ") || !strings.Contains(m, thing.member+" at ") {
						t.Errorf("%s %s says %s", change.method, change.path, m)
					}
					if got := s.want(200, do(get, "")); got[thing.member] != value || got["enabled"] == false {
						t.Errorf("%s %s left %v", change.method, change.path, got)
					}
				case changed.Code == 204 && change.method == "DELETE":
					if saved.Code != 404 && saved.Code != 412 {
						t.Errorf("a save of what was deleted: %d %s", saved.Code, saved.Body)
					}
					create()
				case changed.Code/100 == 2:
					s.want(412, saved)
					do(request{"PUT", "/enabled?enabled=true&id=%[1]s", ""}, "")
				default:
					t.Errorf("%s %s: %d and %d", change.method, change.path, saved.Code, changed.Code)
				}
			}
		}
		// Any version is any version.
		s.want(200, do(thing.save, "any", "If-Match", "*"))
		s.want(204, do(thing.others[len(thing.others)-1], "", "If-Match", do(get, "").Header().Get("ETag")))
	}
}

// A connection's ETag names one version of one connection: not of another one that
// had its name before.
func TestETagOfAConnection(t *testing.T) {
	s := newServer(t)
	const body, second = `{"name":"second","kind":"bitbucket-dc","baseUrl":"https://git.example.com"}`, connectionsPath + "/second"
	tag := func(status int, method, path, body string, headers ...string) string {
		t.Helper()
		w := s.do(method, path, "root", body, headers...)
		s.want(status, w)
		return w.Header().Get("ETag")
	}
	first := tag(201, "POST", connectionsPath, body)
	if read := tag(200, "GET", second, ""); first == "" || read != first {
		t.Errorf("made as %s, read as %s", first, read)
	}
	now := tag(200, "PUT", second, body, "If-Match", first)
	if read := tag(200, "GET", second, ""); now == first || read != now {
		t.Errorf("saved as %s, read as %s", now, read)
	}
	tag(412, "PUT", second, body, "If-Match", first)
	tag(412, "DELETE", second, "", "If-Match", first)
	tag(409, "PUT", second, strings.Replace(body, "{", `{"version":1,`, 1), "If-Match", now) // the body says otherwise
	tag(204, "DELETE", second, "", "If-Match", now)
	if again := tag(201, "POST", connectionsPath, body); again == first {
		t.Errorf("another connection has the ETag %s too", again)
	}
	tag(412, "PUT", second, body, "If-Match", first)
	tag(404, "PUT", connectionsPath+"/third", body[:1]+body[len(`{"name":"second",`):], "If-Match", "*")
	// One of the file has no version, and is not changed here.
	if of := tag(200, "GET", connectionsPath+"/dc", ""); of != "" {
		t.Errorf("a connection of the file has the ETag %s", of)
	}
	tag(409, "DELETE", connectionsPath+"/dc", "", "If-Match", "*")
}

// 412 names who changed which fields of a rule since the version that If-Match names.
func TestIfMatchNamesTheFieldsThatDiffer(t *testing.T) {
	s := newServer(t)
	var ids, tags []string
	for range 3 {
		ids = append(ids, fmt.Sprint(s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, "")))["id"]))
		tags = append(tags, s.do("GET", filterPath+"?id="+ids[len(ids)-1], "root", "").Header().Get("ETag"))
	}
	save := func(user, id, members string, headers ...string) map[string]any {
		t.Helper()
		want := 200
		if headers != nil {
			want = 412
		}
		return s.want(want, s.do("POST", filterPath, user, fmt.Sprintf(someFilter, members+`,"id":`+id), headers...))
	}
	for range 2 { // each twice
		save("root", ids[1], `,"channelName":"one"`)
		save("admin", ids[1], `,"channelName":"one","branches":["main"]`)
		save("root", ids[1], "")
	}
	for _, change := range []request{
		{"POST", filterPath, fmt.Sprintf(someFilter, `,"id":`+ids[1])}, {"PUT", filterPath + "/enabled?enabled=false&id=" + ids[1], ""}, {"DELETE", filterPath + "?id=" + ids[1], ""},
	} {
		m := fmt.Sprint(s.want(412, s.do(change.method, change.path, "root", change.body, "If-Match", tags[1]))["message"])
		for _, want := range []string{"1 earlier saves; admin changed branches at ", "; root changed branches, channelName at "} {
			if !strings.Contains(m, want) {
				t.Errorf("%s says %s, not %s", change.method, m, want)
			}
		}
	}
	if m := fmt.Sprint(save("root", ids[0], `,"channelName":"x"`, "If-Match", tags[1])["message"]); strings.Contains(m, "branches") {
		t.Errorf("of another rule's version: %s", m)
	}
	if w := s.do("DELETE", filterPath+"?id="+ids[0], "root", "", "If-Match", tags[0]); w.Code != 204 {
		t.Errorf("a rule that nobody changed: %d", w.Code)
	}
}

// Of reports and connections 412 and 409 name the fields too, as the audit trail has
// them: of ten of each, changed by two people again and again.
func TestIfMatchNamesTheFieldsOfReportsAndConnections(t *testing.T) {
	s := newServer(t)
	type thing struct {
		path, save, tag string
		first, then     string // members of two saves
	}
	var things []thing
	for range 10 {
		id := fmt.Sprint(s.want(201, s.do("POST", ReportsPath, "root", fmt.Sprintf(someReport, "")))["id"])
		things = append(things, thing{path: ReportsPath + "?id=" + id, save: "POST " + ReportsPath + " " + fmt.Sprintf(someReport, `,"id":`+id+"%s"),
			first: `,"channelName":"one"`, then: `,"channelName":"one","skipDrafts":true`})
	}
	for i := range 10 {
		name := connectionsPath + fmt.Sprint("/number-", i)
		s.want(201, s.do("POST", connectionsPath, "root", fmt.Sprintf(`{"name":"number-%d","kind":"bitbucket-dc","baseUrl":"https://git.example.com"}`, i)))
		things = append(things, thing{path: name, save: "PUT " + name + ` {"baseUrl":"https://git.example.com","token":"x"%s}`,
			first: `,"user":"one"`, then: `,"user":"one","manageWebhooks":true`})
	}
	save := func(want int, user string, of thing, members string, headers ...string) string {
		t.Helper()
		method, rest, _ := strings.Cut(of.save, " ")
		path, body, _ := strings.Cut(rest, " ")
		return fmt.Sprint(s.want(want, s.do(method, path, user, strings.Replace(body, "%s", members, 1), headers...))["message"])
	}
	for i := range things {
		save(200, "root", things[i], "")
		things[i].tag = s.do("GET", things[i].path, "root", "").Header().Get("ETag")
	}
	for _, of := range things { // those of others before, and after
		save(200, "ann", of, of.first)
		save(200, "root", of, of.then)
	}
	second := map[bool]string{true: "skipDrafts", false: "manageWebhooks"}
	first := map[bool]string{true: "channelName", false: "user"}
	for _, of := range things {
		report := strings.HasPrefix(of.path, ReportsPath)
		want := []string{"ann changed " + first[report] + " at ", "; root changed " + second[report] + " at "}
		remove := s.want(412, s.do("DELETE", of.path, "root", "", "If-Match", of.tag))
		for _, m := range []string{
			save(412, "root", of, "", "If-Match", of.tag), save(409, "root", of, `,"version":2`), fmt.Sprint(remove["message"]),
		} {
			if !strings.Contains(m, want[0]) || !strings.Contains(m, want[1]) || strings.Contains(m, "earlier") {
				t.Errorf("%s says %q, want %q", of.path, m, want)
			}
		}
	}
	of := things[0]
	for range 4 {
		save(200, "ann", of, of.first)
	}
	if m := save(412, "root", of, "", "If-Match", of.tag); !strings.Contains(m, "1 earlier saves; root changed skipDrafts at ") || !strings.Contains(m, "ann changed nothing at ") {
		t.Errorf("after six saves: %q", m)
	}
	if m := save(412, "root", of, "", "If-Match", things[1].tag); !strings.Contains(m, "ann saved version 8") {
		t.Errorf("of another thing's version: %q", m)
	}
}
