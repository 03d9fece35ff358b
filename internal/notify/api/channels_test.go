package api

import (
	"fmt"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// What is done with the messages that wait on a broken channel is read in any case, for
// a test and for another try; what is no choice is told before anything is sent.
func TestWhichInAnyCase(t *testing.T) {
	s := newServer(t)
	made := s.want(201, s.do("POST", filterPath, "root", fmt.Sprintf(someFilter, "")))
	path := ChannelsPath + "/" + fmt.Sprint(made["channel"])
	events := 0
	broken := func() {
		t.Helper()
		for range 10 {
			events++
			name := fmt.Sprint("event ", events)
			err := s.store.Accept(t.Context(), &notify.Receipt{
				Connection: "dc", Key: "test", RequestID: name, ReceivedAt: time.Now(), Outcome: notify.Understood, Digest: []byte(name),
				Events: []notify.Event{{
					Types: []notify.EventType{notify.BranchUpdated, notify.BranchCreated}, Connection: "dc", Branch: "main", Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "canoe"},
				}},
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := s.db.Write(t.Context(), func(tx *db.Tx) error {
			_, err := tx.Exec(t.Context(), `UPDATE notify_channels SET state = 'broken', reason = 'HTTP 404', broken_at = 1, failing_since = 1`)
			return err
		}); err != nil {
			t.Fatal(err)
		}
	}
	waiting := func() int {
		t.Helper()
		list, err := s.store.ListDeliveries(t.Context(), notify.DeliveryFilter{State: notify.Waiting, Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	for _, which := range []string{"some", "All,recent", "alles"} {
		broken()
		before := waiting()
		for _, operation := range []string{"/test", "/retry"} {
			if got := fields(s.want(400, s.do("POST", path+operation+"?which="+which, "root", ""))); got != "which" || waiting() != before {
				t.Errorf("%s of %q: the fields %q; %d wait, %d before", operation, which, got, waiting(), before)
			}
		}
	}
	for _, which := range []string{"all", "ALL", "All", "recent", "Recent", "RECENT"} {
		broken()
		before := waiting()
		opened, _ := s.want(200, s.do("POST", path+"/test?which="+which, "root", ""))["opened"].(map[string]any)
		if opened["waiting"] != float64(before) || opened["cancelled"] != 0.0 || waiting() != before {
			t.Errorf("a test of %q: %v; %d wait, %d before", which, opened, waiting(), before)
		}
	}
	for _, which := range []string{"none", "None", "NONE"} {
		for _, operation := range []string{"/test", "/retry"} {
			broken()
			before := waiting()
			got := s.want(200, s.do("POST", path+operation+"?which="+which, "ann", ""))
			if opened, ok := got["opened"].(map[string]any); ok {
				got = opened
			}
			if got["cancelled"] != float64(before) || waiting() != 0 {
				t.Errorf("%s of %q: %v; %d wait", operation, which, got, waiting())
			}
		}
	}
}
