package loadtest

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"outrigger/internal/config"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestBodyIsAnEventOfItsSize(t *testing.T) {
	body := NewBody(42).Append(nil, 17)
	if n := len(body); n < bodySize-64 || n > bodySize+64 {
		t.Errorf("body is %d bytes, want about %d", n, bodySize)
	}
	var event struct {
		EventKey    string
		PullRequest struct {
			Title string
			ToRef struct {
				Repository struct {
					Slug    string
					Project struct{ Key string }
				}
			}
		}
	}
	if err := json.Unmarshal(body, &event); err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintln(event.EventKey, event.PullRequest.Title, event.PullRequest.ToRef.Repository)
	if want := "pr:opened event 17 of channel 42 {repo-42 {LOAD}}\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEventsInCard(t *testing.T) {
	tests := []struct {
		card string
		want []int
	}{
		{`{"text":"event 7 of channel 3"}`, []int{7}},
		{`event 7 of channel 3, event 7 of channel 3, event 12 of channel 3`, []int{7, 12}},
		{`event 7 of channel 4`, nil},
		{`event of channel 3; event x of channel 3`, nil},
		{`event event 1 of channel 3`, []int{1}},
		{``, nil},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, eventsIn([]byte(tt.card), 3)); diff != "" {
			t.Errorf("%q: %s", tt.card, diff)
		}
	}
}

// relay is a program that keeps nothing: it checks the signature and sends the
// body on as the card.
func relay(t *testing.T, sink *Sink) *httptest.Server {
	client := &http.Client{}
	t.Cleanup(client.CloseIdleConnections)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mac := hmac.New(sha256.New, []byte(webhookSecret))
		mac.Write(body)
		if r.Header.Get("X-Hub-Signature") != "sha256="+hex.EncodeToString(mac.Sum(nil)) || r.Header.Get("X-Event-Key") != EventKey {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		channel := strings.Split(r.Header.Get("X-Request-Id"), "-")[1]
		resp, err := client.Post(sink.URL()+"/channel/"+channel, "application/json", bytes.NewReader(body))
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		resp.Body.Close()
		w.WriteHeader(resp.StatusCode)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestSettingsAreAccepted(t *testing.T) {
	key := base64.StdEncoding.EncodeToString(make([]byte, 32))
	for _, s := range []Settings{
		{Dir: t.TempDir()},
		{Dir: t.TempDir(), DatabaseURL: "postgres://u@127.0.0.1:1/d", NodeID: "a", SecretKey: key, Clustered: true},
	} {
		p, err := New("outrigger", s)
		if err != nil {
			t.Fatal(err)
		}
		c, warnings, err := config.Load(p.file("outrigger.yaml"), nil, nil)
		// The sink is on this machine, of which the start warns.
		if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "notify.allowed_networks") {
			t.Fatalf("%v %q", err, warnings)
		}
		if c.Listen != p.Addr() || c.Cluster.Enabled != s.Clustered || c.Notify.Connections[0].Name != Connection {
			t.Errorf("settings were read as %+v", c)
		}
	}
}

func newSink(t *testing.T, channels int) *Sink {
	sink, err := NewSink(channels)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sink.Close)
	return sink
}

func TestLoadArrives(t *testing.T) {
	const channels = 8
	sink := newSink(t, channels)
	sink.Set(3, Answer{Reset: true})
	sink.Set(4, Answer{Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}})
	sink.Set(5, Answer{Delay: 10 * time.Millisecond})
	server := relay(t, sink)
	load := NewLoad(channels, 4, server.Listener.Addr().String())
	load.Each = 5
	for _, rate := range []float64{0, 500} {
		load.Run(t.Context(), rate)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	v := Await(ctx, load, sink)
	if v.Missing+v.Disordered+v.Repeated+v.Unpromised != 0 || v.Acknowledged == 0 {
		t.Errorf("a relay that works: %s", v)
	}
	if v.Acknowledged != load.Acknowledged() || len(load.Answers(time.Time{})) != v.Acknowledged {
		t.Errorf("%d and %d acknowledged, want %d", load.Acknowledged(), len(load.Answers(time.Time{})), v.Acknowledged)
	}
	for channel, status := range map[int]int{3: http.StatusBadGateway, 4: http.StatusTooManyRequests, 5: http.StatusAccepted} {
		if got := load.Posts(channel)[0].Status; got != status {
			t.Errorf("channel %d answered %d, want %d", channel, got, status)
		}
	}
	if n := sink.Strange(); n != 0 {
		t.Errorf("%d strange cards", n)
	}
	ways := Ways(load, sink, []int{0, 1, 2, 3, 4, 5}, time.Time{})
	if len(ways) == 0 || ways[0] <= 0 || Quantile(ways, 0.5) > ways[len(ways)-1] {
		t.Errorf("times of arrival: %v", ways)
	}
}

func TestJudge(t *testing.T) {
	const ok, refused, broke = 202, 503, 0
	tests := []struct {
		name     string
		answers  []int
		arrivals []int
		want     Verdict
	}{
		{"all there", []int{ok, ok, ok}, []int{1, 2, 3}, Verdict{Acknowledged: 3}},
		{"one missing", []int{ok, ok, ok}, []int{1, 3}, Verdict{Acknowledged: 3, Missing: 1}},
		{"a repeat", []int{ok, ok}, []int{1, 2, 1, 2}, Verdict{Acknowledged: 2, Repeated: 2, MostRepeated: 2}},
		{"out of order", []int{ok, ok, ok}, []int{2, 1, 3}, Verdict{Acknowledged: 3, Disordered: 1}},
		{"unacknowledged ones may arrive anywhere or not", []int{ok, broke, refused, ok}, []int{1, 4, 2}, Verdict{Acknowledged: 2, Unpromised: 1}},
		{"never posted", []int{ok}, []int{1, 2}, Verdict{Acknowledged: 1, Disordered: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var posts []Post
			for _, status := range tt.answers {
				posts = append(posts, Post{Status: status})
			}
			var arrivals []Arrival
			for _, seq := range tt.arrivals {
				arrivals = append(arrivals, Arrival{Seq: seq})
			}
			var v Verdict
			v.judge(0, posts, arrivals)
			if faults := v.Missing + v.Disordered; (faults > 0) != (len(v.Examples) > 0) {
				t.Errorf("%d faults with examples %q", faults, v.Examples)
			}
			v.Examples = nil
			if diff := cmp.Diff(tt.want, v); diff != "" {
				t.Error(diff)
			}
		})
	}
}
