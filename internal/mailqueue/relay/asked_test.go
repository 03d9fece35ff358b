package relay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/mailqueue"
	"outrigger/internal/playground/smarthost"
)

// Of many messages somebody was asked about, an action is done to those alone: what
// was queued, failed or was resent after the question stays as it is.
func TestWhatCameAfterTheQuestionIsLeftAlone(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		var refused atomic.Pointer[string] // the beginning of addresses; others are put off
		refuse := func(beginning string) { refused.Store(&beginning) }
		refuse("b")
		w := newWorld(t, d, setup{host: smarthost.Options{React: func(r smarthost.Request) *smarthost.Reaction {
			switch {
			case r.Verb != "RCPT":
				return nil
			case strings.Contains(r.Line, "<"+*refused.Load()):
				return &smarthost.Reaction{Reply: "550 5.1.1 Unknown"}
			}
			return &smarthost.Reaction{Reply: "451 4.7.1 Later"}
		}}})
		ctx := admin(t.Context())
		var failed, waiting []int64
		for i := range 10 {
			failed = append(failed, w.addFrom("jira@example.com", fmt.Sprintf("b%d@example.com", i)))
			waiting = append(waiting, w.addFrom("jira@example.com", fmt.Sprintf("w%d@example.com", i)))
		}
		w.settled(10, 10)
		ask := func(f mailqueue.MessageFilter, want int64) mailqueue.MessageFilter {
			t.Helper()
			n, at, err := w.queue.Count(ctx, f)
			if n != want || at.IsZero() || err != nil {
				t.Fatalf("%d of %+v at %v, %v; want %d", n, f, at, err, want)
			}
			f.AsOf, f.Count = at, n
			return f
		}
		errors, queue := ask(mailqueue.MessageFilter{State: mailqueue.Failed}, 10), ask(mailqueue.MessageFilter{State: mailqueue.Waiting}, 10)
		all, mail := ask(mailqueue.MessageFilter{}, 20), ask(mailqueue.MessageFilter{Sender: "jira", Recipient: "w"}, 10)
		none := ask(mailqueue.MessageFilter{Subject: "nothing like it"}, 0)

		// One that waits is refused, one that failed waits again; two are new.
		refuse("w0@")
		w.until("w0 to be refused", func() bool {
			_, err := w.queue.Flush(ctx, mailqueue.MessageFilter{IDs: waiting[:1]})
			must(t, err)
			sizes, err := w.queue.Sizes(ctx)
			return err == nil && sizes == mailqueue.Sizes{Size: 9, ErrorSize: 11}
		})
		refuse("nobody")
		must(t, w.queue.Resend(ctx, failed[0]))
		w.settled(10, 10)
		w.addFrom("wiki@example.com", "w@example.com")
		w.addFrom("wiki@example.com", "nothing@example.com")
		w.settled(12, 10)

		do := func(what string, want int64, n int64, err error) {
			t.Helper()
			if n != want || err != nil {
				t.Errorf("%s: %d, %v; want %d", what, n, err, want)
			}
		}
		n, err := w.queue.ResendAll(ctx, none)
		do("resend none", 0, n, err)
		n, err = w.queue.DeleteAll(ctx, errors)
		do("delete what had failed, less the one that was resent", 9, n, err)
		same(t, "the error queue", w.ids(mailqueue.MessageFilter{State: mailqueue.Failed}), waiting[:1])
		n, err = w.queue.DeleteAll(ctx, queue)
		do("delete what waited, less the one that failed", 9, n, err)
		same(t, "what is left of the question", slices.Contains(w.ids(mailqueue.MessageFilter{State: mailqueue.Waiting}), failed[0]), true)
		n, err = w.queue.DeleteAll(ctx, mail)
		do("delete of a sender what is left, in whatever state", 1, n, err)
		n, err = w.queue.DeleteAll(ctx, all)
		do("delete all, but the two that are new", 1, n, err)
		w.settled(2, 0)

		// More than the question said is refused, and nothing is done.
		few := ask(mailqueue.MessageFilter{}, 2)
		few.Count = 1
		for what, act := range map[string]func(context.Context, mailqueue.MessageFilter) (int64, error){"delete": w.queue.DeleteAll, "flush": w.queue.Flush} {
			if n, err := act(ctx, few); n != 0 || !fault.Is(err, fault.Conflict) {
				t.Errorf("%s more than was asked: %d, %v", what, n, err)
			}
		}
		w.sizes(2, 0)
		w.audited()

		// Two who were asked at once about the same messages: each is done to once.
		first := ask(mailqueue.MessageFilter{}, 2)
		var both sync.WaitGroup
		var counts [2]int64
		var errs [2]error
		for i := range counts {
			both.Go(func() { counts[i], errs[i] = w.queue.DeleteAll(ctx, first) })
		}
		both.Wait()
		if counts[0]+counts[1] != 2 || errs[0] != nil || errs[1] != nil {
			t.Errorf("deleted %v, %v", counts, errs)
		}
		w.settled(0, 0)
		w.consistent()
		if got := w.audited(); len(got) != 2 {
			t.Errorf("the audit trail has %q", got)
		}
	})
}
