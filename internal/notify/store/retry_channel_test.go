package store

import (
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/notify"
)

// More wait than are cancelled at once, and one of the first ends on another node
// meanwhile: the others are cancelled all the same, and none goes out.
func TestRetryNoneWhileAMessageEnds(t *testing.T) {
	eachStore(t, func(t *testing.T, s *Store) {
		if s.db.Dialect() == db.SQLite {
			return // has one writer
		}
		one := save(t, s, someRule("one"), flowURL("a"))
		var events []notify.Event
		for range cancelSlice + 1 {
			events = append(events, *pushedTo("ATL", "canoe", "main", "ada"))
		}
		accept(t, s, webhook("many", events...))
		begun, commit, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		go func() {
			ended <- s.db.Write(t.Context(), func(tx *db.Tx) error {
				_, err := tx.Exec(t.Context(), `UPDATE notify_deliveries SET state = 'delivered', finished_at = 1
					WHERE id = (SELECT min(id) FROM notify_deliveries)`)
				close(begun)
				<-commit
				return err
			})
		}()
		<-begun
		retried := make(chan error)
		go func() {
			_, err := s.RetryChannel(t.Context(), ada, one.ChannelID, notify.RetryNone)
			retried <- err
		}()
		for count(t, s, `SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
			WHERE NOT l.granted AND a.datname = current_database()`) == 0 {
		}
		close(commit)
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if err := <-retried; err != nil {
			t.Fatal(err)
		}
		if n := count(t, s, `SELECT count(*) FROM notify_deliveries WHERE finished_at = 0`); n != 0 {
			t.Errorf("%d still wait", n)
		}
	})
}
