package outbox

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/notify/store"
	"outrigger/internal/secret"
)

// chat answers by host: old ones when they are told what, new ones 429 until they are
// opened.
type chat struct {
	mu     sync.Mutex
	asked  map[string]chan int // of the old ones: the status that the request waits for
	begun  chan string
	opened bool
	taken  map[string][]string // what was answered 2xx, by host
}

func (c *chat) PostJSON(_ context.Context, target string, body []byte) (*http.Response, error) {
	host, status := hostOf(target), http.StatusTooManyRequests
	c.mu.Lock()
	asked, opened := c.asked[host], c.opened
	c.mu.Unlock()
	if asked != nil {
		c.begun <- host
		status = <-asked
	} else if opened {
		status = http.StatusAccepted
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if status == http.StatusAccepted {
		c.taken[host] = append(c.taken[host], string(body))
	}
	return &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {"1"}}, Body: http.NoBody}, nil
}

// sendingNode is a process that holds the shards of some channels.
func sendingNode(t *testing.T, url, id string, client *chat) (s *store.Store, hold func(channels []int64)) {
	t.Helper()
	d := dbtest.Open(t, db.Options{URL: url, NodeID: id})
	if err := d.Migrate(t.Context(), secret.Migrations, audit.Migrations, identity.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	box, err := secret.Open(t.Context(), d, bytes.Repeat([]byte{7}, 32), nil)
	if err != nil {
		t.Fatal(err)
	}
	s = store.New(d, box, slog.New(slog.DiscardHandler))
	s.UsePlatforms(notify.Connections{{Name: "dc"}}, nil)
	if err := s.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := New(Options{
		Queue: s, Client: client, Message: func(_ context.Context, d *notify.Delivery) []byte { return []byte(d.Event.URL) },
		Limits: notify.Limits{MaxAge: time.Hour, MaxWaiting: 1000}, Rate: 1e6, Burst: 1e6,
		Clock: time.Now, Random: func() float64 { return 0 }, Log: slog.New(slog.DiscardHandler),
	})
	s.OnChange(b.Enqueued, b.Moved)
	leases := db.NewLeases(d, id, nil)
	leases.Time, leases.Every = time.Hour, time.Hour
	ctx, stop := context.WithCancel(context.Background())
	if err := leases.Start(ctx); err != nil {
		t.Fatal(err)
	}
	var ended sync.WaitGroup
	ended.Go(func() { b.poll(ctx) })
	t.Cleanup(func() {
		stop()
		ended.Wait()
		leases.Stop()
	})
	return s, func(channels []int64) {
		for _, c := range channels {
			shard := notify.ShardOf(c)
			lease, err := leases.Acquire(ctx, fmt.Sprintf("outbox/%02d", shard))
			if err != nil || lease == nil {
				t.Fatalf("lease %v, %v", lease, err)
			}
			ended.Go(func() { b.runShard(ctx, shard, lease) })
		}
	}
}

// Twelve rules get another URL in the moment in which their messages are sent, and
// another node has the channels of the new ones. What comes of that is known there: what
// was taken is not sent again, what was refused goes out at the new URL, in front of
// what came later.
func TestAMessageMovesToAnotherNodeWhileItIsSent(t *testing.T) {
	url := dbtest.PostgresURL(t)
	client := &chat{asked: make(map[string]chan int), begun: make(chan string, 100), taken: make(map[string][]string)}
	here, holdHere := sendingNode(t, url, "node_1", client)
	there, holdThere := sendingNode(t, url, "node_2", client)
	answers := []int{http.StatusAccepted, http.StatusServiceUnavailable, http.StatusBadRequest, http.StatusNotFound}
	const rules = 12
	who := notify.Actor{Name: "test"}
	address := func(host string) string { return "https://" + host + "/hook" }
	oldHost, newHost := func(i int) string { return fmt.Sprintf("old%d.example.com", i) }, func(i int) string { return fmt.Sprintf("new%d.example.com", i) }
	save := func(s *store.Store, r notify.Rule, host string) notify.RuleInfo {
		t.Helper()
		r.Version = 0
		info, err := s.SaveRule(t.Context(), who, r, address(host))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	var old, fresh []int64
	var saved []notify.RuleInfo
	for i := range rules {
		r := notify.Rule{Name: fmt.Sprint("rule ", i), Connection: "dc", ProjectKey: fmt.Sprint("P", i), Format: notify.Teams, Enabled: true, Filter: notify.Filter{EventTypes: []notify.EventType{notify.TagCreated}}}
		fresh = append(fresh, save(here, r, newHost(i)).ChannelID) // which keeps the channel in use
		info := save(here, r, oldHost(i))
		saved, old = append(saved, info), append(old, info.ChannelID)
		client.asked[oldHost(i)] = make(chan int)
	}
	for i := range rules { // but takes nothing itself
		list, err := here.ListRules(t.Context(), notify.RuleQuery{Connection: "dc", ProjectKey: fmt.Sprint("P", i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range list {
			if r.ChannelID == fresh[i] {
				if _, err := here.EnableRule(t.Context(), who, r.ID, 0, false, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	holdHere(old)
	holdThere(fresh)
	event := func(i int, name string) {
		t.Helper()
		name = fmt.Sprint(i, " ", name)
		r := &notify.Receipt{Connection: "dc", Key: "test", RequestID: name, ReceivedAt: time.Now(), Outcome: notify.Understood, Digest: []byte(name), Events: []notify.Event{
			{Types: []notify.EventType{notify.TagCreated}, Connection: "dc", URL: name, Project: notify.Project{Key: fmt.Sprint("P", i)}},
		}}
		if err := there.Accept(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	for i := range rules {
		event(i, "moves")
	}
	for range rules {
		select {
		case <-client.begun:
		case <-time.After(patience):
			t.Fatal("not all messages are being sent")
		}
	}
	for i := range rules {
		save([]*store.Store{here, there}[i%2], saved[i].Rule, newHost(i))
		event(i, "comes later")
	}
	for i := range rules {
		client.asked[oldHost(i)] <- answers[i%len(answers)]
	}
	// Each result is committed; what it says of a message that moved is told by that.
	committed(t, here, rules, answers)
	client.mu.Lock()
	client.opened = true
	client.mu.Unlock()
	for until := time.Now().Add(patience); ; {
		left, err := there.ListDeliveries(t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%d messages wait for ever, such as %s on channel %d", len(left), left[0].Event.URL, left[0].ChannelID)
		}
		<-time.After(20 * time.Millisecond)
	}
	client.mu.Lock()
	defer client.mu.Unlock()
	for i := range rules {
		moves, later := fmt.Sprint(i, " moves"), fmt.Sprint(i, " comes later")
		wantOld, wantNew := []string(nil), []string{moves, later}
		if answers[i%len(answers)] == http.StatusAccepted {
			wantOld, wantNew = []string{moves}, []string{later}
		}
		if got := client.taken[oldHost(i)]; !slices.Equal(got, wantOld) {
			t.Errorf("the old URL of rule %d, which answers %d, has %q, want %q", i, answers[i%len(answers)], got, wantOld)
		}
		if got := client.taken[newHost(i)]; !slices.Equal(got, wantNew) {
			t.Errorf("the new URL of rule %d, whose old one answers %d, has %q, want %q", i, answers[i%len(answers)], got, wantNew)
		}
	}
}

// committed waits until each message that moves has the attempt at its old URL.
func committed(t *testing.T, s *store.Store, rules int, answers []int) {
	t.Helper()
	for until := time.Now().Add(patience); ; <-time.After(20 * time.Millisecond) {
		all, err := s.ListDeliveries(t.Context(), notify.DeliveryFilter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		known := 0
		for _, d := range all {
			var i int
			if _, err := fmt.Sscan(d.Event.URL, &i); err != nil || !strings.HasSuffix(d.Event.URL, "moves") {
				continue
			}
			_, attempts, err := s.Delivery(t.Context(), d.ID)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range attempts {
				if a.Status == answers[i%len(answers)] {
					known++
					break
				}
			}
		}
		if known == rules {
			return
		}
		if time.Now().After(until) {
			t.Fatalf("of %d messages the result at the old URL is known", known)
		}
	}
}
