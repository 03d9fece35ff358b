package store

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity"
	"outrigger/internal/notify"
	"outrigger/internal/secret"
	"outrigger/internal/work"
)

// What an answer says is kept with whom it is for: of several messages, attempts and
// ends, also of those that are redelivered, and of channels that are tried again.
func TestWhomAnswersAreForIsKept(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		lease, fence := hold(t, s)
		rule := save(t, s, someRule("one"), flowURL("a"))
		ids := acceptMany(t, s, 4)
		end := func(id int64, n int, state notify.DeliveryState, public bool) {
			t.Helper()
			d, _, err := s.Delivery(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			r := &notify.Result{Deliveries: []*notify.Delivery{d}, State: state, Lease: lease, Fence: fence, Attempt: &work.Attempt{At: time.Unix(int64(n), 0), Status: 400, Answer: "words", Public: public}}
			if state != notify.Delivered {
				if r.Reason = "It answered 400: words"; !public {
					r.Reason, r.Inside = "It answered 400", "It answered 400: words"
				}
				c, _, err := s.Channel(t.Context(), rule.ChannelID)
				if err != nil {
					t.Fatal(err)
				}
				c.State, c.Reason, c.Inside, c.GateReason, c.GateInside = notify.Broken, r.Reason, r.Inside, r.Reason, r.Inside
				r.Channel = &c
			}
			if err := s.SaveResult(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		said := func(id int64) string {
			t.Helper()
			d, attempts, err := s.Delivery(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			text := fmt.Sprintf("%s %q %q", d.State, d.Reason, d.Inside)
			for _, a := range attempts {
				text += fmt.Sprintf(" %s:%t", a.Answer, a.Public)
			}
			return text
		}
		channel := func() string {
			c, _, err := s.Channel(t.Context(), rule.ChannelID)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprintf("%s %q %q %q %q", c.State, c.Reason, c.Inside, c.GateReason, c.GateInside)
		}
		check := func(what, got, want string) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s, want %s", what, got, want)
			}
		}
		end(ids[0], 1, notify.Waiting, false)
		check("waits", said(ids[0]), `waiting "It answered 400" "It answered 400: words" words:false`)
		end(ids[0], 2, notify.Waiting, true)
		check("waits, a public answer", said(ids[0]), `waiting "It answered 400: words" "" words:false words:true`)
		end(ids[0], 3, notify.Failed, false)
		check("failed", said(ids[0]), `failed "It answered 400" "It answered 400: words" words:false words:true words:false`)
		for _, public := range []bool{true, false} {
			id := ids[1]
			if !public {
				id = ids[2]
			}
			end(id, 1, notify.Delivered, public)
			check("delivered", said(id), fmt.Sprintf(`delivered "" "" words:%t`, public))
			if done, err := s.Redeliver(t.Context(), ada, []int64{id}); err != nil || done.Done != 1 {
				t.Fatalf("%+v %v", done, err)
			}
			check("redelivered", said(id), fmt.Sprintf(`waiting "" "" words:%t`, public))
			end(id, 2, notify.Delivered, !public)
			check("delivered again", said(id), fmt.Sprintf(`delivered "" "" words:%t words:%t`, public, !public))
		}
		check("the channel", channel(), `broken "It answered 400" "It answered 400: words" "It answered 400" "It answered 400: words"`)
		if _, err := s.RetryChannel(t.Context(), ada, rule.ChannelID, notify.RetryAll); err != nil {
			t.Fatal(err)
		}
		check("the channel, tried again", channel(), `open "" "" "It answered 400" "It answered 400: words"`)
		end(ids[3], 1, notify.Waiting, false)
		if n, err := s.Cancel(t.Context(), ada, ids[3:]); err != nil || n.Done != 1 {
			t.Fatal(n, err)
		}
		if d, _, err := s.Delivery(t.Context(), ids[3]); err != nil || d.State != notify.Cancelled || d.Inside != "" {
			t.Errorf("cancelled: %+v %v", d, err)
		}
		if _, err := s.Redeliver(t.Context(), ada, ids[:1]); err != nil {
			t.Fatal(err)
		}
		check("redelivered after a failure", said(ids[0]), `waiting "" "" words:false words:true words:false`)
	})
}

// Whom answers of before are for is not known, so they are for administrators; what
// quotes none stays as it is.
func TestAnswersOfBeforeAreForAdministrators(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const withheld = "What the chat platform answered is shown to administrators only."
		reasons := []struct{ before, reason, inside string }{
			{"The chat platform answered 404 Not Found: words", withheld, "The chat platform answered 404 Not Found: words"},
			{"It refused 5 messages in a row. The last time: The chat platform answered 400 Bad Request: words", withheld,
				"It refused 5 messages in a row. The last time: The chat platform answered 400 Bad Request: words"},
			{"expired: it waited for 7 days.", "expired: it waited for 7 days.", ""},
			{"", "", ""},
		}
		if err := d.Write(t.Context(), func(tx *db.Tx) error {
			for i, r := range reasons {
				for _, state := range []string{"failed", "waiting"} {
					id := int64(2*i + 1)
					finished := int64(1)
					if state == "waiting" {
						id, finished = id+1, 0
					}
					if _, err := tx.Exec(t.Context(), `INSERT INTO notify_deliveries (id, event_id, channel_id, format, rule_id, rules, state, reason, note, attempts, errors_5xx,
						created_at, queued_at, due_at, beside, batch, held_until, finished_at, took, status, answer)
						VALUES ($1, 1, 1, 'teams', 1, '[1]', $2, $3, '', 1, 0, 1, 0, 0, 0, 0, 0, $4, 0, 0, '')`, id, state, r.before, finished); err != nil {
						return err
					}
					if _, err := tx.Exec(t.Context(), `INSERT INTO notify_attempts (delivery_id, number, at, took, status, answer, error)
						VALUES ($1, 1, 1, 1, 404, 'words', ''), ($1, 2, 2, 1, 0, '', 'the certificate of x is not trusted: x509: of words'), ($1, 3, 3, 1, 0, '', 'refused')`, id); err != nil {
						return err
					}
				}
				if _, err := tx.Exec(t.Context(), `INSERT INTO notify_channels (fingerprint, url, host, mask, state, reason, broken_at, gate_until, gate_step, gate_reason,
					rejected, refused, suspect, failing_since, last_ok_at, created_at) VALUES ($1, $2, 'x', 'x', 'broken', $3, 1, 0, 0, $3, 0, 0, 0, 1, 0, 1)`,
					fmt.Sprint("f", i), []byte{}, r.before); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if err := d.Migrate(t.Context(), Migrations); err != nil {
			t.Fatal(err)
		}
		s := newStore(t, d)
		for i, r := range reasons {
			for id := int64(2*i + 1); id <= int64(2*i+2); id++ {
				d, attempts, err := s.Delivery(t.Context(), id)
				if err != nil || len(attempts) != 3 {
					t.Fatal(err, attempts)
				}
				if d.Reason != r.reason || d.Inside != r.inside || attempts[0].Public || attempts[0].Answer != "words" || attempts[1].Public ||
					attempts[1].Err != "the certificate is not trusted" || attempts[2].Err != "refused" {
					t.Errorf("%q: %q %q %+v", r.before, d.Reason, d.Inside, attempts)
				}
			}
			c, _, err := s.Channel(t.Context(), int64(i+1))
			if err != nil || c.Reason != r.reason || c.Inside != r.inside || c.GateReason != r.reason || c.GateInside != r.inside {
				t.Errorf("%q: %+v %v", r.before, c, err)
			}
		}
	}, secret.Migrations, audit.Migrations, identity.Migrations, upTo(t, "0005"))
}

// upTo is the wing's schema up to a file.
func upTo(t *testing.T, last string) db.Migrations {
	t.Helper()
	some := fstest.MapFS{}
	if err := fs.WalkDir(Migrations.FS, "migrations", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || e.Name()[:len(last)] > last {
			return err
		}
		script, err := fs.ReadFile(Migrations.FS, path)
		some[path] = &fstest.MapFile{Data: script}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return db.Migrations{Name: Migrations.Name, FS: some}
}
