package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"outrigger/internal/config"
	"outrigger/internal/playground"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

const filters = "/rest/mtbs/1.0/configuration/filter"

// saveRule saves a global rule of every pull request event and gives its id,
// or why it was refused.
func saveRule(t *testing.T, a *App, webhook string) (id int64, refusal string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"name": webhook, "webhookUrl": webhook, "eventTypes": []string{"PULL_REQUEST_OPENED"}})
	if err != nil {
		t.Fatal(err)
	}
	status, answer := get(t, a.URL()+filters, asAdmin, func(r *http.Request) {
		r.Method = http.MethodPost
		r.Header.Set("Content-Type", "application/json")
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	})
	var v struct {
		ID      int64
		Message string
	}
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	switch status {
	case http.StatusCreated:
		return v.ID, ""
	case http.StatusBadRequest:
		return 0, v.Message
	}
	t.Fatalf("saving the rule: %d %s", status, answer)
	return 0, ""
}

// channelOf reads how the channel of a rule fares.
func channelOf(t *testing.T, a *App, id int64) (state, reason string, waiting int) {
	t.Helper()
	_, answer := get(t, fmt.Sprintf("%s%s?id=%d", a.URL(), filters, id), asAdmin)
	var v struct {
		ChannelState struct {
			State, Reason string
			Waiting       int
		}
	}
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	return v.ChannelState.State, v.ChannelState.Reason, v.ChannelState.Waiting
}

// TestNoRequestGoesWhereItMustNot: what can be seen at save is refused there;
// what only dialling shows holds up the channel, said on the rule, and its
// message waits.
func TestNoRequestGoesWhereItMustNot(t *testing.T) {
	reached := make(chan string, 10)
	inside := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.URL.Path }))
	t.Cleanup(inside.Close)
	redirecting := httptest.NewServer(http.RedirectHandler(inside.URL+"/redirected", http.StatusFound))
	t.Cleanup(redirecting.Close)

	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"} // by literal address, for the redirect
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)

	for _, literal := range []string{
		"https://10.0.0.1/hook", "https://192.168.1.1/hook", "https://169.254.169.254/latest/meta-data", "https://[::1]/hook",
		"https://[::ffff:10.0.0.1]/hook", "https://[64:ff9b::a00:1]/hook", "https://0.0.0.0/hook", "http://chat.example.com/hook",
	} {
		if _, refusal := saveRule(t, a, literal); refusal == "" {
			t.Errorf("%s was saved", literal)
		}
	}
	redirected, _ := saveRule(t, a, redirecting.URL+"/hook")

	platform := &playground.Platform{HookURL: a.URL() + "/hooks/dc", Secret: "s", Clock: time.Now}
	for _, s := range samples.Samples() {
		if s.Name != "pull-request-opened" {
			continue
		}
		if status, err := platform.Post(t.Context(), s, 1); err != nil || status != http.StatusAccepted {
			t.Fatalf("webhook: %d, %v", status, err)
		}
	}
	state, reason, waiting := await(t, a, redirected)
	// The first answer of this kind; one that stays so for a minute breaks it.
	if state != "waiting" || !strings.Contains(reason, "302") || waiting != 1 {
		t.Errorf("redirected: %s, %q, %d waiting", state, reason, waiting)
	}
	select {
	case path := <-reached:
		t.Errorf("a request reached %s", path)
	default:
	}
}

// TestNameOfThisMachineBreaksTheChannel: a name is judged when it is dialled.
func TestNameOfThisMachineBreaksTheChannel(t *testing.T) {
	reached := make(chan string, 10)
	inside := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached <- r.URL.Path }))
	t.Cleanup(inside.Close)
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)
	id, refusal := saveRule(t, a, strings.Replace(inside.URL, "127.0.0.1", "localhost", 1)+"/hook")
	if refusal != "" {
		if !strings.Contains(refusal, "localhost") {
			t.Errorf("refused: %s", refusal)
		}
		return
	}
	platform := &playground.Platform{HookURL: a.URL() + "/hooks/dc", Secret: "s", Clock: time.Now}
	if _, err := platform.Post(t.Context(), samples.Samples()[5], 1); err != nil {
		t.Fatal(err)
	}
	state, reason, _ := await(t, a, id)
	if state != "broken" || !strings.Contains(reason, "loopback") {
		t.Errorf("%s, %q", state, reason)
	}
	select {
	case path := <-reached:
		t.Errorf("a request reached %s", path)
	default:
	}
}

// await waits until the channel of a rule is not open any more.
func await(t *testing.T, a *App, rule int64) (state, reason string, waiting int) {
	t.Helper()
	for deadline := time.After(patience); ; {
		if state, reason, waiting = channelOf(t, a, rule); state != "open" {
			return state, reason, waiting
		}
		select {
		case <-deadline:
			return state, reason, waiting
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A broken channel that is tried again and still refuses does not look well: the
// page says what came of it.
func TestARetryOfABrokenChannelSaysWhatCameOfIt(t *testing.T) {
	t.Parallel()
	answer := make(chan int, 1)
	chat := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		status := <-answer
		answer <- status
		w.WriteHeader(status)
	}))
	t.Cleanup(chat.Close)
	answer <- http.StatusNotFound
	cfg := settings(t)
	cfg.Notify.AllowedNetworks = []string{"127.0.0.1"}
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)
	id, _ := saveRule(t, a, chat.URL+"/hook")
	platform := &playground.Platform{HookURL: a.URL() + "/hooks/dc", Secret: "s", Clock: time.Now}
	for _, s := range samples.Samples() {
		if s.Name == "pull-request-opened" {
			if _, err := platform.Post(t.Context(), s, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	if state, reason, _ := await(t, a, id); state != "waiting" || !strings.Contains(reason, "404") {
		t.Fatalf("%s, %q", state, reason)
	}
	_, rule := get(t, fmt.Sprintf("%s%s?id=%d", a.URL(), filters, id), asAdmin)
	var v struct{ Channel string }
	if err := json.Unmarshal([]byte(rule), &v); err != nil {
		t.Fatal(err)
	}
	retry := func() (string, string) {
		t.Helper()
		_, body := get(t, a.URL()+"/rest/mtbs/1.0/configuration/channels/"+v.Channel+"/retry?which=all", asAdmin, func(r *http.Request) { r.Method = http.MethodPost })
		_, page := consolePage(t, a, fmt.Sprintf("/notifications/channels/%d", channelsOf(t, a)[0].ID), nil)
		return body, page
	}
	if body, page := retry(); !strings.Contains(body, `"answered":true,"state":"waiting","reason":`) || strings.Contains(page, `badge good`) {
		t.Errorf("still 404: %s %s", body, page)
	}
	<-answer
	answer <- http.StatusAccepted
	if body, page := retry(); !strings.Contains(body, `"cancelled":0,"waiting":0,"answered":true,"state":"open"`) || !strings.Contains(page, `badge good`) {
		t.Errorf("taken: %s %s", body, page)
	}
}
