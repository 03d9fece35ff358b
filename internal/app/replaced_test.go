package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"outrigger/internal/dbtest"
	"outrigger/internal/secret"
)

// replacedChat has webhook URLs /former/N, which keep their message until they are
// released and then ask for a day's pause, and others, which take it.
type replacedChat struct {
	mu       sync.Mutex
	messages map[string]int
	release  chan struct{}
}

func (c *replacedChat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.messages[r.URL.Path]++
	c.mu.Unlock()
	if !strings.HasPrefix(r.URL.Path, "/former/") {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	select {
	case <-c.release:
	case <-r.Context().Done():
	}
	w.Header().Set("Retry-After", "86400")
	w.WriteHeader(http.StatusTooManyRequests)
}

// got returns how many messages came to each of the webhook URLs PREFIX/0 to N-1.
func (c *replacedChat) got(prefix string, n int) (counts []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		counts = append(counts, c.messages[fmt.Sprintf("/%s/%d", prefix, i)])
	}
	return counts
}

// One node sends to webhook URLs that the other one replaces meanwhile: the late
// answers of the former ones close nothing, and everything goes to the new ones, from
// whichever node sends.
func TestAURLIsReplacedByAnotherNode(t *testing.T) {
	t.Parallel()
	const channels = 8
	chat := &replacedChat{messages: make(map[string]int), release: make(chan struct{})}
	room := httptest.NewServer(chat)
	t.Cleanup(room.Close)
	url := secret.New(dbtest.PostgresURL(t, migrations()...))
	node := func(id string) *App {
		cfg := withChat(t)
		cfg.NodeID, cfg.DatabaseURL, cfg.Cluster.Enabled = id, url, true
		cfg.SecretKey = secret.New("MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=")
		return start(t, cfg)
	}
	each := func(prefix string, want int) func() bool {
		return func() bool {
			for _, n := range chat.got(prefix, channels) {
				if n < want {
					return false
				}
			}
			return true
		}
	}
	one := node("one") // holds every channel
	for i := range channels {
		if _, refusal := saveRule(t, one, fmt.Sprintf("%s/former/%d", room.URL, i)); refusal != "" {
			t.Fatal(refusal)
		}
	}
	opened(t, one, 1)
	eventually(t, each("former", 1))
	opened(t, one, 2)
	two := node("two")
	replaceAll(t, two, room.URL+"/new")
	close(chat.release)
	opened(t, two, 3)
	eventually(t, each("new", 3))
	replaceAll(t, one, room.URL+"/newer")
	opened(t, two, 4)
	eventually(t, each("newer", 1))
	for prefix, want := range map[string]int{"former": 1, "new": 3, "newer": 1} {
		for i, n := range chat.got(prefix, channels) {
			if n != want {
				t.Errorf("%d messages came to /%s/%d, want %d", n, prefix, i, want)
			}
		}
	}
	for _, a := range []*App{one, two} {
		for _, c := range channelsOf(t, a) {
			if c.State != "open" {
				t.Errorf("channel %d is %s: %s", c.ID, c.State, c.Reason)
			}
		}
	}
}

type listedChannel struct {
	ID            int64
	State, Reason string
}

func channelsOf(t *testing.T, a *App) []listedChannel {
	t.Helper()
	var list struct{ Items []listedChannel }
	if _, answer := get(t, a.URL()+mtbs+"/channels", asAdmin); json.Unmarshal([]byte(answer), &list) != nil || len(list.Items) == 0 {
		t.Fatalf("the channels: %s", answer)
	}
	return list.Items
}

// replaceAll gives channel number N, in the order of their ids, the webhook URL TO/N.
func replaceAll(t *testing.T, a *App, to string) {
	t.Helper()
	list := channelsOf(t, a)
	slices.SortFunc(list, func(a, b listedChannel) int { return cmp.Compare(a.ID, b.ID) })
	for i, c := range list {
		body := fmt.Sprintf(`{"webhookUrl":"%s/%d"}`, to, i)
		if status, answer := put(t, a, http.MethodPut, fmt.Sprintf("%s/channels/%d", mtbs, c.ID), body); status != http.StatusOK {
			t.Fatalf("replacing the webhook URL: %d %s", status, answer)
		}
	}
}

// Who replaces a webhook URL, and is late because somebody else replaced it while their
// test message was under way, leaves no message out.
func TestWhoIsLateLeavesNoMessageOut(t *testing.T) {
	t.Parallel()
	underway, saved := make(chan struct{}), make(chan struct{})
	room := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/late":
			close(underway)
			<-saved
			w.WriteHeader(http.StatusAccepted)
		default:
			w.Header().Set("Retry-After", "86400")
			w.WriteHeader(http.StatusTooManyRequests)
		}
	}))
	t.Cleanup(room.Close)
	a := start(t, withChat(t))
	if _, refusal := saveRule(t, a, room.URL+"/former"); refusal != "" {
		t.Fatal(refusal)
	}
	for seq := range int64(3) {
		opened(t, a, seq+1)
	}
	channel := fmt.Sprintf("%s/channels/%d", mtbs, channelsOf(t, a)[0].ID)
	go func() {
		defer close(saved)
		<-underway
		if status, answer := put(t, a, http.MethodPut, channel, fmt.Sprintf(`{"version":1,"webhookUrl":"%s/first"}`, room.URL)); status != http.StatusOK {
			t.Errorf("the first save: %d %s", status, answer)
		}
	}()
	status, answer := put(t, a, http.MethodPut, channel+"?test=true&which=none", fmt.Sprintf(`{"version":1,"webhookUrl":"%s/late"}`, room.URL))
	if status != http.StatusConflict {
		t.Fatalf("the late save: %d %s", status, answer)
	}
	if _, answer := get(t, a.URL()+mtbs+"/deliveries?state=cancelled", asAdmin); strings.Contains(answer, `"id"`) {
		t.Errorf("cancelled: %s", answer)
	}
}
