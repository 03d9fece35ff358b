package app

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"outrigger/internal/attention"
	"outrigger/internal/db"
	"outrigger/internal/identity"
	"outrigger/internal/secret"
)

// insideWords and publicWords are in the answers of the two chats of an
// insideWorld, and in nothing else.
const insideWords, publicWords = "inside-words", "public-words"

// insideWorld is a server whose rules and reports send to a chat on this machine,
// which allowed_networks opens, and to one that is public: both refuse.
type insideWorld struct {
	*reported
	public *chatPlatform
	rules  []string // ids: two of the first chat, one of the second
}

func startInside(t *testing.T) *insideWorld {
	cfg := settings(t)
	files := tlsFiles(t)
	writeCertificate(t, files, "chat", time.Now())
	cfg.CAFile = files.Cert
	pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Notify.ChannelRate, cfg.Notify.ChannelBurst = 1000, 1000
	w := &insideWorld{reported: startReportedOn(t, cfg, time.Now), public: &chatPlatform{}}
	w.public.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", "/"+publicWords)
		rw.WriteHeader(w.public.status)
		_, _ = io.WriteString(rw, w.public.answer)
	}))
	w.public.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	w.public.StartTLS()
	t.Cleanup(w.public.Close)
	w.chat.answers(http.StatusBadRequest, insideWords+" of a database")
	w.public.answers(http.StatusBadRequest, publicWords+" of a chat")
	if status, body := put(t, w.App, "PUT", settingsPath, `{"proxyUrl":"`+tunnelTo(t, w.public.Listener.Addr().String())+`"}`); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	for name, grant := range map[string]identity.Permission{"global": identity.Admin, "project": identity.ProjectAdmin, "repository": identity.RepoAdmin} {
		at := identity.Resource{Connection: "dc", Project: "ATL", Repository: "canoe"}
		switch grant {
		case identity.Admin:
			at = identity.Resource{}
		case identity.ProjectAdmin:
			at.Repository = ""
		}
		if _, err := w.identity.CreateUser(t.Context(), name, secret.New(password)); err != nil {
			t.Fatal(err)
		}
		if _, err := w.identity.Grant(t.Context(), name, grant, at); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"one": w.chat.webhook("one"), "two": w.chat.webhook("one"), "three": "https://hooks.slack.com/services/T0/B0/three"} {
		status, v := postJSON(t, w.App, "/rest/mtbs/1.0/configuration/filter", "admin", fmt.Sprintf(
			`{"name":%q,"projectKey":"ATL","repositoryKey":"canoe","webhookUrl":%q,"eventTypes":["BRANCH_UPDATED"]}`, name, to))
		if status != http.StatusCreated {
			t.Fatalf("%d %v", status, v)
		}
		w.rules = append(w.rules, fmt.Sprint(v["id"]))
	}
	for name, to := range map[string]string{"Inside": w.chat.webhook("one"), "Public": "https://hooks.slack.com/services/T0/B0/three"} {
		form := w.form(url.Values{"name": {name}, "frequency": {"DAILY"}, "webhookUrl": {to}, "channelName": {""}})
		form.Del("day")
		if status, body := consolePage(t, w.App, reportPages+"/new", form); status != http.StatusSeeOther {
			t.Fatalf("saving: %d %s", status, body)
		}
	}
	w.runReports(t, 5*time.Minute)
	eventually(t, func() bool { return strings.Count(fmt.Sprint(w.outcomes(t)), "failed") == 2 })
	for i := range 6 { // the fifth breaks a channel, and the sixth waits
		body := fmt.Sprintf(`{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
			"actor":{"name":"ada"},"repository":{"slug":"canoe","name":"canoe","project":{"key":"ATL","name":"Atlas"}},
			"changes":[{"ref":{"id":"refs/heads/b%[1]d","displayId":"b%[1]d","type":"BRANCH"},"refId":"refs/heads/b%[1]d",
				"fromHash":"1111111111111111111111111111111111111111","toHash":"2222222222222222222222222222222222222222","type":"UPDATE"}]}`, i)
		hookedBy(t, w.App, "dc", "s", "repo:refs_changed", body)
		eventually(t, func() bool { return i == 5 || w.count(t, `state = 'failed'`) == 2*(i+2) || w.broken(t) == 2 })
	}
	eventually(t, func() bool { return w.broken(t) == 2 })
	return w
}

// tunnelTo is a proxy that leads to one server, whatever it is asked for.
func tunnelTo(t *testing.T, address string) string {
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		there, err := net.Dial("tcp", address)
		if r.Method != http.MethodConnect || err != nil {
			rw.WriteHeader(http.StatusBadGateway)
			return
		}
		defer there.Close()
		rw.WriteHeader(http.StatusOK)
		here, buffered, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer here.Close()
		done := make(chan struct{})
		go func() {
			defer close(done)
			_, _ = io.Copy(there, buffered)
			_ = there.(*net.TCPConn).CloseWrite()
		}()
		_, _ = io.Copy(here, there)
		_ = here.Close()
		<-done
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL
}

func (w *insideWorld) count(t *testing.T, where string) (n int) {
	return w.counted(t, `notify_deliveries`, where)
}

func (w *insideWorld) broken(t *testing.T) int {
	return w.counted(t, `notify_channels`, `state = 'broken'`)
}

func (w *insideWorld) counted(t *testing.T, table, where string) (n int) {
	t.Helper()
	if err := w.db.Read(t.Context(), func(tx *db.Tx) error {
		return tx.QueryRow(t.Context(), `SELECT count(*) FROM `+table+` WHERE `+where).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// as asks for a path as a user: REST by the password, pages by a session.
func (w *insideWorld) as(t *testing.T, user, method, path, body string) (int, string) {
	t.Helper()
	session := (&permissionTable{App: w.App, t: t}).signIn(user)
	return get(t, w.URL()+path, func(r *http.Request) {
		r.Method = method
		if strings.HasPrefix(path, "/rest/") {
			r.SetBasicAuth(user, password)
			r.Header.Set("Content-Type", "application/json")
		} else {
			r.AddCookie(&http.Cookie{Name: identity.SessionCookie(false, ""), Value: session})
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		if method != http.MethodGet {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
		}
	})
}

// What a chat inside answers is read by administrators alone, wherever answers are
// shown; what a public one answers, by everyone who sees the thing.
func TestAnswersFromInsideAreForAdministrators(t *testing.T) {
	w := startInside(t)
	const rest = "/rest/mtbs/1.0/configuration"
	_, list := put(t, w.App, "GET", rest+"/channels", "")
	var channels struct {
		Items []struct {
			ID                  int64
			Channel, WebhookURL string
		}
	}
	if err := json.Unmarshal([]byte(list), &channels); err != nil || len(channels.Items) != 2 {
		t.Fatalf("%v %s", err, list)
	}
	type place struct{ method, path, body, words string }
	both := insideWords + " " + publicWords
	places := []place{
		{"GET", rest + "/deliveries", "", both},
		{"GET", rest + "/deliveries?state=failed", "", both},
		{"GET", rest + "/channels", "", both},
		{"GET", rest + "/filter?projectKey=ATL&repositoryKey=canoe", "", both},
		{"GET", rest + "/reports?projectKey=ATL&repositoryKey=canoe", "", both},
		{"GET", rest + "/audit", "", ""},
		{"GET", "/rest/outrigger/1.0/audit", "", ""},
		{"GET", "/", "", both},
		{"GET", attention.Path, "", both},
		{"GET", "/notifications/channels", "", both},
		{"GET", "/notifications/deliveries", "", both},
		{"GET", "/notifications/rules", "", both},
		{"GET", reportPages, "", both},
		{"GET", "/system/audit", "", ""},
		{"GET", "/system/audit.csv", "", ""},
	}
	for _, c := range channels.Items {
		words := insideWords
		if strings.Contains(c.WebhookURL, "slack") {
			words = publicWords
		}
		places = append(places, place{"GET", rest + "/channels/" + c.Channel, "", words}, place{"GET", fmt.Sprintf("/notifications/channels/%d", c.ID), "", words},
			place{"POST", rest + "/channels/" + c.Channel + "/test", "", words}, place{"POST", "/notifications/channels/" + c.Channel + "/test", "", ""})
	}
	for _, id := range w.rules {
		places = append(places, place{"GET", "/notifications/rules/" + id, "", ""})
	}
	for _, id := range []string{"1", "2"} {
		places = append(places, place{"GET", reportPages + "/" + id, "", ""}, place{"GET", rest + "/reports/" + id, "", ""})
	}
	for id := range w.count(t, `id > 0`) {
		one := fmt.Sprint(id + 1)
		places = append(places, place{"GET", rest + "/deliveries/" + one, "", ""}, place{"GET", "/notifications/deliveries/" + one, "", ""},
			place{"GET", rest + "/events/" + one + "/explain", "", ""}, place{"GET", "/notifications/events/" + one, "", ""})
	}
	report := `{"name":"x","projectKey":"ATL","repositoryKey":"canoe","inactivityDays":3,"frequency":"DAILY","time":"08:00","webhookUrl":%q}`
	for words, to := range map[string]string{insideWords: w.chat.webhook("other"), publicWords: "https://hooks.slack.com/services/T0/B0/other"} {
		places = append(places, place{"POST", testPath, fmt.Sprintf(`{"projectKey":"ATL","repositoryKey":"canoe","webhookUrl":%q}`, to), words},
			place{"POST", rest + "/reports/test", fmt.Sprintf(report, to), words},
			place{"POST", "/notifications/rules/new", url.Values{"do": {"test"}, "connection": {"dc"}, "repository": {"ATL/canoe"}, "format": {"auto"}, "webhookUrl": {to}}.Encode(), words})
	}
	seen := map[string]int{}
	for _, user := range []string{"admin", "global", "project", "repository"} {
		administers := user == "admin" || user == "global"
		for _, p := range places {
			status, body := w.as(t, user, p.method, p.path, p.body)
			if status >= 400 {
				if administers && status != http.StatusNotFound && p.words != "" {
					t.Errorf("%s %s %s: %d %s", user, p.method, p.path, status, body)
				}
				continue
			}
			seen[user]++
			for _, words := range []string{insideWords, publicWords} {
				has := strings.Contains(body, words)
				if may := administers || words == publicWords; has && !may {
					t.Errorf("%s reads what was answered inside at %s %s: %s", user, p.method, p.path, around(body, words))
				} else if strings.Contains(p.words, words) && may && !has {
					t.Errorf("%s does not read %s at %s %s: %s", user, words, p.method, p.path, body)
				}
			}
			if strings.Contains(p.words, insideWords) && !administers && !strings.Contains(body, "shown to administrators only") && !strings.Contains(body, `"answerWithheld":true`) {
				t.Errorf("%s is not told that there is an answer at %s %s: %s", user, p.method, p.path, body)
			}
		}
	}
	for user, n := range seen {
		if n < len(places)/2 {
			t.Errorf("%s saw %d places of %d", user, n, len(places))
		}
	}
	if log := w.metrics(t); strings.Contains(log, insideWords) {
		t.Error("the metrics say what was answered inside")
	}
	token, _, err := w.identity.CreateToken(t.Context(), "admin", "a monitor", identity.Monitoring, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	_, list = get(t, w.URL()+attention.Path, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token.Reveal()) })
	if strings.Contains(list, insideWords) || !strings.Contains(list, publicWords) {
		t.Errorf("a token for monitoring reads %s", list)
	}
}

func (w *insideWorld) metrics(t *testing.T) string {
	_, body := get(t, w.URL()+"/metrics", asAdmin)
	return body
}

// around is a part of a text with some of what is about it.
func around(text, part string) string {
	at := strings.Index(text, part)
	return text[max(0, at-200):min(len(text), at+100)]
}

// The alerts channel has other readers than administrators: what is answered inside
// is not passed on to it.
func TestAlertsPassNothingOnFromInside(t *testing.T) {
	t.Parallel()
	alerts, refusing := newChatPlatform(t), newChatPlatform(t)
	refusing.answers(http.StatusBadRequest, insideWords)
	cfg := alerting(t, alerts)
	cfg.Notify.ChannelRate, cfg.Notify.ChannelBurst = 1000, 1000
	a := start(t, cfg)
	for name, sig := range map[string]string{"one": "first", "two": "second"} {
		if status, v := postJSON(t, a, "/rest/mtbs/1.0/configuration/filter", "admin",
			fmt.Sprintf(`{"name":%q,"webhookUrl":%q,"eventTypes":["TAG_CREATED"]}`, name, refusing.URL+"/"+sig+"?sig=x")); status != http.StatusCreated {
			t.Fatalf("%d %v", status, v)
		}
	}
	for i := range 5 {
		hooked(t, a, "repo:refs_changed", fmt.Sprintf(`{"eventKey":"repo:refs_changed","date":"2026-01-02T03:04:05+0000",
			"actor":{"name":"ada"},"repository":{"slug":"canoe","name":"canoe","project":{"key":"ATL","name":"Atlantic"}},
			"changes":[{"ref":{"id":"refs/tags/v%[1]d","displayId":"v%[1]d","type":"TAG"},"refId":"refs/tags/v%[1]d",
				"fromHash":"0000000000000000000000000000000000000000","toHash":"2222222222222222222222222222222222222222","type":"ADD"}]}`, i))
	}
	awaitOverview(t, a, "It refused 5 messages in a row. The last time: The chat platform answered 400 Bad Request: "+insideWords)
	post := awaitPost(t, alerts, "The chat platform answered 400 Bad Request; what it said is shown to administrators only.")
	if strings.Contains(post, insideWords) {
		t.Errorf("the alert says %s", post)
	}
}
