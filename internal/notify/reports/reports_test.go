package reports

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

var nine = monday.Add(9 * time.Hour)

func TestADueReportIsSentOnce(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		info := n.saveReport(t, "canoe")
		n.list = func(ctx context.Context, at notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
			if at != info.At() || notify.AskedFor(ctx) != ada.UserID {
				t.Errorf("it asks for %v on behalf of %d", at, notify.AskedFor(ctx))
			}
			return []notify.OpenPullRequest{{ID: 1, Title: "old", Updated: nine.Add(-200 * time.Hour)}, {ID: 2, Updated: nine}}, nil
		}
		now.set(nine.Add(-time.Second))
		n.run(t, 0)
		now.set(nine)
		n.run(t, 1)
		n.run(t, 0)
		list := n.waiting(t)
		if len(list) != 1 || n.asked != 1 {
			t.Fatalf("%d messages wait, the platform was asked %d times", len(list), n.asked)
		}
		e := list[0].Event
		if a := e.Report; a.Open != 2 || a.Inactive != 1 || a.Oldest[0].IdleDays != 8 || e.URL != "https://git.example.com/canoe" || !e.At.Equal(nine) {
			t.Errorf("it says %+v", e)
		}
		if list[0].Format != notify.Slack {
			t.Errorf("as %s", list[0].Format)
		}
	})
}

// Reports of several repositories of one connection, each due again and again,
// are messages of their own, whether they are due together or one by one.
func TestEveryReportHasItsOwnMessage(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		const many, days = 5, 3
		n.list = func(_ context.Context, at notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
			return []notify.OpenPullRequest{{ID: 1, Title: "of " + at.RepositoryKey}}, nil
		}
		var want []string
		for i := range many {
			info := n.saveReport(t, fmt.Sprintf("canoe-%d", i))
			for day := range days {
				want = append(want, fmt.Sprintf("%s at %s by %d", info.RepositoryKey, nine.AddDate(0, 0, day).Format(time.DateTime), info.ID))
			}
		}
		for day := range days {
			now.set(nine.AddDate(0, 0, day))
			n.run(t, many)
		}
		list, err := n.store.ListDeliveries(t.Context(), notify.DeliveryFilter{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range list {
			if d.Event == nil {
				t.Fatalf("delivery %d has no event", d.ID)
			}
			got = append(got, fmt.Sprintf("%s at %s by %d", d.Event.Repository.Key, d.Event.At.Format(time.DateTime), d.Event.Report.Report))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("the messages are %q, want %q", got, want)
		}
	})
}

// A walk through pages that breaks in the middle is asked again as a whole, a
// minute later; nothing of it is sent.
func TestAPlatformThatBreaksOff(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		n.saveReport(t, "canoe")
		n.list = func(context.Context, notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
			if n.asked < 3 {
				return []notify.OpenPullRequest{{ID: 1}}, fault.New(fault.Unavailable, "The platform broke off after 1 page.")
			}
			return make([]notify.OpenPullRequest, 30), nil
		}
		for minute := range 3 {
			now.set(nine.Add(time.Duration(minute) * time.Minute))
			n.run(t, 1)
			n.run(t, 0)
		}
		if list := n.waiting(t); len(list) != 1 || list[0].Event.Report.Open != 30 {
			t.Errorf("%d messages wait", len(list))
		}
	})
}

// A platform that keeps a round waiting is left alone for the rest of it; the
// reports of others are run.
func TestAPlatformThatHangs(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		for i := range 3 {
			n.saveReport(t, fmt.Sprintf("canoe-%d", i))
		}
		now.set(nine)
		due, err := n.store.DueReports(t.Context(), nine, 10)
		if err != nil || len(due) != 3 {
			t.Fatalf("%d are due, %v", len(due), err)
		}
		lease, err := n.leases.Acquire(t.Context(), leaseName)
		if err != nil || lease == nil {
			t.Fatal(lease, err)
		}
		b := &round{Runner: n.runner, lease: lease, waited: map[string]waiting{
			"dc": {patience, fault.New(fault.Unavailable, "The platform did not answer within 10 s.")}, "other": {patience - 1, nil},
		}}
		if kept, err := b.turnAll(t.Context(), due); err != nil || kept != 3 || n.asked != 0 {
			t.Errorf("%d kept, asked %d times, %v", kept, n.asked, err)
		}
		if again, err := n.store.DueReports(t.Context(), nine.Add(time.Minute), 10); err != nil || len(again) != 3 || again[0].RetryingSince.IsZero() {
			t.Errorf("%d are asked for again in a minute, %v", len(again), err)
		}
		due[0].Connection = "other"
		if _, err := b.ask(t.Context(), &due[0].Report); !fault.Is(err, fault.Unavailable) || n.asked != 0 {
			t.Errorf("a connection that is gone: %v", err)
		}
	})
}

func TestADrainedNodeRunsNoReport(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		n.saveReport(t, "canoe")
		now.set(nine)
		n.active = 0
		n.run(t, 0)
		n.active = 1
		n.run(t, 1)
	})
}

// A node that loses its lease stops asking, and what it asked is not sent; the
// next holder asks anew.
func TestANodeThatLosesItsLease(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := &clock{now: monday}
		one, two := newNode(t, d, "node_1", now), newNode(t, d, "node_2", now)
		one.saveReport(t, "canoe")
		now.set(nine)
		one.list = func(ctx context.Context, _ notify.RepositoryRef) ([]notify.OpenPullRequest, error) {
			two.run(t, 0) // while the first asks, no other does
			go one.leases.Stop()
			<-ctx.Done()
			return nil, nil
		}
		if turned, err := one.runner.runOnce(t.Context()); err == nil || turned != 0 {
			t.Errorf("without its lease: %d, %v", turned, err)
		}
		one.leases.Stop() // waits for the other call
		two.run(t, 1)
		if list := two.waiting(t); len(list) != 1 || two.asked != 1 {
			t.Errorf("%d messages wait, asked %d times", len(list), two.asked)
		}
	}, schema...)
}

// More reports than are taken up at a time are all run in one round.
func TestManyReportsAtOneTime(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		const many = atOnce + 7
		for i := range many {
			n.saveReport(t, fmt.Sprintf("canoe-%d", i))
		}
		now.set(nine)
		n.run(t, many)
		if list := n.waiting(t); len(list) != many {
			t.Errorf("%d messages wait", len(list))
		}
	})
}

// A clock that was far ahead for a while leaves no report waiting for the time
// that it showed.
func TestAClockThatWasAhead(t *testing.T) {
	eachNode(t, func(t *testing.T, n *node, now *clock) {
		n.saveReport(t, "stale")
		now.set(monday.AddDate(1, 0, 0))
		if _, err := n.runner.runOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		before := len(n.waiting(t))
		now.set(monday.Add(10 * time.Hour))
		n.run(t, 1)
		now.set(monday.Add(33 * time.Hour))
		n.run(t, 1)
		if list := n.waiting(t); before > 1 || len(list) != 1 || !list[0].Event.At.Equal(monday.Add(33*time.Hour)) {
			t.Errorf("%d messages wait: %+v", len(list), list)
		}
	})
}
