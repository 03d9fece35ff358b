package relay

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/secret"
	"outrigger/internal/secret/secrettest"
)

// machine runs the queue and the model side by side.
type machine struct {
	t      *rapid.T
	db     *db.DB
	node   string
	leases *db.Leases
	lease  *db.Lease
	q      *Queue
	model  modelled
	flying []*job
	stale  []*result // of a process, or of a lease, that is no more
	drawn  int       // recipients of the quota
	limit  string    // why all nodes pause
	held   string    // why this one does
	tokens *modelTokens
}

func (m *machine) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// start is a process that begins, its predecessor's memory lost.
func (m *machine) start() {
	m.leases = db.NewLeases(m.db, m.node, nil)
	m.must(m.leases.Start(m.t.Context()))
	q, err := New(m.db, Options{NodeID: m.node, Leases: m.leases})
	m.must(err)
	m.q = q
	m.must(q.Start(m.t.Context()))
	m.tokens.begin(m)
	m.begin()
}

func (m *machine) begin() {
	lease, err := m.leases.Acquire(m.t.Context(), leaseName(m.node))
	m.must(err)
	if lease == nil {
		m.t.Fatal("the lease is not to be had")
	}
	m.lease = lease
	m.q.out.begin(8, 50)
}

// lose has what is in flight end without its outcome being kept in time.
func (m *machine) lose() {
	for _, j := range m.flying {
		m.stale = append(m.stale, m.outcome(j))
	}
	m.flying = nil
}

func (m *machine) crash(t *rapid.T) {
	m.lose()
	m.leases.Stop() // a lease that lapsed, and one that was given up, are the same to the next
	m.start()
}

func (m *machine) lapse(t *rapid.T) {
	m.lose()
	m.must(m.leases.Release(t.Context(), m.lease))
	m.q.out.end()
	for m.q.InFlight() > 0 {
		for _, j := range m.q.out.held {
			m.q.out.finished(j, true)
		}
	}
	m.begin()
}

// late is an outcome that comes when another run has the lease: nothing of it
// may be kept.
func (m *machine) late(t *rapid.T) {
	if len(m.stale) == 0 {
		return // the step has nothing to do now
	}
	if err := m.q.saveResult(t.Context(), m.stale[0]); !fault.Is(err, fault.Conflict) {
		t.Fatalf("a late outcome was kept: %v", err)
	}
	m.stale = m.stale[1:]
}

func (m *machine) enqueue(t *rapid.T) {
	a := plainArrival(m.q, rapid.IntRange(1, 3).Draw(t, "recipients"))
	m.must(m.q.accept(t.Context(), a))
	list := make([]modelRecipient, len(a.recipients))
	for i := range list {
		list[i].state = mailqueue.Waiting
	}
	m.model[a.id] = list
}

// take has the next message go, which must be one that is due and not in
// flight.
func (m *machine) take(t *rapid.T) {
	want := m.model.ids(func(id int64) bool {
		return len(m.model.due(id)) > 0 && !slices.ContainsFunc(m.flying, func(j *job) bool { return j.id == id })
	})
	if m.q.out.needsRefill() {
		_, err := m.q.load(t.Context())
		m.must(err)
	}
	j := m.q.out.take(false, anything)
	if j == nil {
		if len(want) > 0 && !m.q.out.isPaused() {
			t.Fatalf("nothing goes, and %v are due", want)
		}
		return
	}
	if !slices.Contains(want, j.id) {
		t.Fatalf("message %d goes; due are %v", j.id, want)
	}
	if due := m.model.due(j.id); !slices.Equal(j.turn, due) && len(j.turn) >= len(due) {
		t.Fatalf("message %d goes to %v; due are %v", j.id, j.turn, due)
	}
	m.flying = append(m.flying, j)
}

// outcome draws what comes of a job.
func (m *machine) outcome(j *job) *result {
	r := &result{job: j, at: time.Now(), lease: m.lease.Name(), fence: m.lease.Fence()}
	for range j.turn {
		o := rapid.SampledFrom([]outcome{
			{state: mailqueue.Sent, counts: true, status: 250, answer: "250 OK"},
			{state: mailqueue.Sent, counts: true, status: 250, answer: "250 OK"},
			{state: mailqueue.Failed, counts: true, status: 550, answer: "550 No"},
			{state: mailqueue.Waiting, counts: true, status: 451, answer: "451 Later", delay: time.Hour},
			{state: mailqueue.Waiting, answer: "452 Too many"},
		}).Draw(m.t, "outcome")
		r.outcomes = append(r.outcomes, o)
	}
	return r
}

func (m *machine) land(t *rapid.T) {
	if len(m.flying) == 0 {
		return // the step has nothing to do now
	}
	i := rapid.IntRange(0, len(m.flying)-1).Draw(t, "which")
	j := m.flying[i]
	m.flying = slices.Delete(m.flying, i, i+1)
	r := m.outcome(j)
	m.must(m.q.saveResult(t.Context(), r))
	m.q.out.finished(j, false)
	m.q.out.reread() // as the sender does when a message is due again
	to, there := m.model[j.id]
	if !there {
		return
	}
	for k, n := range j.turn {
		if to[n].state != mailqueue.Waiting {
			continue
		}
		o := r.outcomes[k]
		to[n].state, to[n].later = o.state, o.delay > 0
		if o.counts {
			to[n].attempts++
		}
	}
	m.model.settle(j.id)
}

// abandon is a message that was not sent: the smarthost is away.
func (m *machine) abandon(t *rapid.T) {
	if len(m.flying) == 0 {
		return // the step has nothing to do now
	}
	m.q.out.finished(m.flying[0], true)
	m.flying = m.flying[1:]
}

func (m *machine) remove(t *rapid.T) {
	ids := m.model.ids(func(int64) bool { return true })
	if len(ids) == 0 {
		return // the step has nothing to do now
	}
	id := rapid.SampledFrom(ids).Draw(t, "id")
	m.must(m.q.Delete(t.Context(), id))
	delete(m.model, id)
}

func (m *machine) resend(t *rapid.T) {
	ids := m.model.ids(func(int64) bool { return true })
	if len(ids) == 0 {
		return // the step has nothing to do now
	}
	id := rapid.SampledFrom(ids).Draw(t, "id")
	err := m.q.Resend(t.Context(), id)
	if !m.model.has(id, mailqueue.Failed) {
		if !fault.Is(err, fault.Conflict) {
			t.Fatalf("resending what did not fail: %v", err)
		}
		return
	}
	m.must(err)
	m.revived(id)
}

func (m *machine) revived(id int64) {
	for i := range m.model[id] {
		if r := &m.model[id][i]; r.state == mailqueue.Failed {
			*r = modelRecipient{state: mailqueue.Waiting}
		}
	}
}

func (m *machine) resendAll(t *rapid.T) {
	n, err := m.q.ResendAll(t.Context(), mailqueue.MessageFilter{NodeID: m.node})
	m.must(err)
	ids := m.model.ids(func(id int64) bool { return m.model.has(id, mailqueue.Failed) })
	if n != int64(len(ids)) {
		t.Fatalf("resent %d of %v", n, ids)
	}
	for _, id := range ids {
		m.revived(id)
	}
}

func (m *machine) flush(t *rapid.T) {
	n, err := m.q.Flush(t.Context(), mailqueue.MessageFilter{NodeID: m.node})
	m.must(err)
	if want := m.model.sizes().Size; n != want {
		t.Fatalf("flushed %d of %d", n, want)
	}
	for _, to := range m.model {
		for i := range to {
			to[i].later = false
		}
	}
	m.q.out.reread()
}

func (m *machine) pause(t *rapid.T) {
	m.must(m.q.SetPaused(t.Context(), m.node, rapid.Bool().Draw(t, "paused")))
}

// modelLimits are those of the sign-in of a model.
func (m *machine) modelLimits() *Limits {
	return &Limits{SignIn: "model " + m.node, Rate: 1000, Quota: 20}
}

// draw takes a share of the limits: as much as is left, whatever process or lease
// took the rest, and never more.
func (m *machine) draw(t *rapid.T) {
	needs := rapid.SliceOfN(rapid.IntRange(1, 5), 1, 4).Draw(t, "needs")
	want := 0
	for _, n := range needs {
		if m.drawn+want+n > m.modelLimits().Quota {
			break
		}
		want += n
	}
	more, err := m.q.allow(t.Context(), m.modelLimits(), share{}, needs)
	m.must(err)
	if more.recipients != want || (want == 0) != (more.why != "" && more.again.After(time.Now())) {
		t.Fatalf("of %v after %d a share is %+v, want %d", needs, m.drawn, more, want)
	}
	m.drawn += want
}

// reach has all nodes pause for a limit, or go on.
func (m *machine) reach(t *rapid.T) {
	m.limit = rapid.SampledFrom([]string{"", "432 Later", "554 Quota"}).Draw(t, "why")
	m.must(m.q.writeLimit(t.Context(), m.modelLimits().SignIn, time.Hour, m.limit))
}

// check compares the whole queue with the model.
func (m *machine) check(t *rapid.T) {
	m.t = t
	all, err := m.q.sizesByNode(t.Context())
	m.must(err)
	mine, err := m.q.Sizes(t.Context())
	m.must(err)
	if want := m.model.sizes(); all[m.node] != want || mine != want {
		t.Fatalf("sizes are %+v and %+v, want %+v", all[m.node], mine, want)
	}
	left, why, err := m.q.readLimit(t.Context(), m.modelLimits().SignIn)
	m.must(err)
	if why != m.limit || (left > 0) != (why != "") {
		t.Fatalf("a limit holds for %v for %q, want %q", left, why, m.limit)
	}
	if got := m.heldFor(t); got != m.held {
		t.Fatalf("held for %q, want %q", got, m.held)
	}
	list, err := m.q.Messages(t.Context(), mailqueue.MessageFilter{NodeID: m.node, Limit: 1001})
	m.must(err)
	if len(list) != len(m.model) {
		t.Fatalf("there are %d messages, want %d", len(list), len(m.model))
	}
	for _, got := range list {
		for i, r := range got.Recipients {
			if want := m.model[got.ID][i]; r.State != want.state || r.SendCount != want.attempts {
				t.Fatalf("message %d: recipient %d is %+v, want %+v", got.ID, i, r, want)
			}
		}
	}
}

// The queue is what a simple model of it is, whatever happens in whatever
// order: messages come, go, fail and wait, processes crash, leases lapse,
// outcomes come too late, administrators interfere; tokens end and are refused, and
// their provider's answers are lost with the process; sending pauses.
func TestTheQueueIsItsModel(t *testing.T) {
	defer dbtest.Checks(25)() // 100 take half a minute under the race detector
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		run, box := 0, secrettest.Box(t, d)
		rapid.Check(t, func(rt *rapid.T) {
			run++
			m := &machine{t: rt, db: d, node: "model_" + strconv.Itoa(run), model: make(modelled)}
			m.tokens = newModelTokens(box, "consent of "+m.node)
			m.start()
			defer func() { m.leases.Stop() }()
			rt.Repeat(map[string]func(*rapid.T){
				"enqueue": m.enqueue, "enqueue2": m.enqueue, "take": m.take, "take2": m.take, "land": m.land, "land2": m.land,
				"abandon": m.abandon, "delete": m.remove, "resend": m.resend, "resendAll": m.resendAll, "flush": m.flush,
				"pause": m.pause, "draw": m.draw, "limit": m.reach, "crash": m.crash, "lapse": m.lapse, "late": m.late,
				"sign in": m.signIn, "sign in2": m.signIn, "end token": m.endToken, "revoke": m.revoke, "die asking": m.dieAsking, "hold": m.hold,
				"": m.check,
			})
		})
	}, audit.Migrations, secret.Migrations, Migrations)
}

// plainArrival is a small message to so many.
func plainArrival(q *Queue, recipients int) *arrival {
	a := &arrival{job: job{sender: "a@example.com", trace: "Received: from x", size: 3, body: q.codec.enc.EncodeAll([]byte("a\r\n"), nil)}}
	for i := range recipients {
		a.recipients = append(a.recipients, recipient{Address: fmt.Sprintf("b%d@example.com", i)})
		a.turn = append(a.turn, i)
	}
	return a
}
