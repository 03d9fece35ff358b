package acceptance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// evaluate puts what an expression answers where into points. Where another page
// takes the place of this one meanwhile, that one is asked.
func evaluate[T any](expression string, into *T) step {
	return func(ctx context.Context, target *chromedp.Target) (none chromedp.Void, err error) {
		for {
			*into, err = chromedp.Evaluate[T](expression)(ctx, target)
			if !isLeft(err) || ctx.Err() != nil {
				return none, err
			}
		}
	}
}

// isLeft reports whether another page took the place of the one that was asked.
func isLeft(err error) bool {
	return err != nil && slices.ContainsFunc([]string{
		"Inspected target navigated or closed", "Execution context was destroyed", "Cannot find context with specified id", "Cannot find default execution context",
	}, func(words string) bool { return strings.Contains(err.Error(), words) })
}

// A delivery that comes while one is selected moves nothing: the list says that
// there are new ones, and shows them when it is asked to; what is selected stays
// so. With nothing in use, the list takes them by itself.
func TestLiveListKeepsASelection(t *testing.T) {
	t.Parallel()
	const rows, ticked = `document.querySelectorAll("tbody tr").length`, `[...document.querySelectorAll("tbody :checked")].map((box) => box.value).join()`
	for _, width := range []int{1280, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			picture := func(name string) step { return look(t, fmt.Sprintf("%s-%d", name, width)) }
			d := startDemo(t)
			ctx := browser(t, width)
			do(t, ctx, "sign in", d.signIn()...)
			do(t, ctx, "open an empty list", chromedp.Navigate(d.console+"/notifications/deliveries"), visible(`[data-live-on]`), visible(`.empty`))
			d.send(t)
			var chosen, still, after, said string
			var before, during, shown int
			do(t, ctx, "see the first deliveries come, and select one",
				visible(`tbody tr:nth-child(10) .badge.good`),
				chromedp.Click(`tbody tr:nth-child(3) input`),
				evaluate(rows, &before), evaluate(ticked, &chosen),
				evaluate(`window.chosen = document.querySelector("tbody tr:nth-child(3)"), window.place = window.chosen.getBoundingClientRect().top, ""`, &still),
			)
			d.send(t)
			do(t, ctx, "hear of new ones",
				visible(`[data-live-news] button`),
				read(`[data-live-news] button`, &said),
				evaluate(rows, &during), evaluate(ticked, &still),
				picture("deliveries-new"),
			)
			if !strings.Contains(said, "new deliver") || during != before || still != chosen || chosen == "" {
				t.Errorf("it says %q; %d rows, then %d; selected %q, then %q", said, before, during, chosen, still)
			}
			var moved, inView bool
			do(t, ctx, "show them",
				evaluate(`window.place !== window.chosen.getBoundingClientRect().top`, &moved),
				evaluate(`((at) => at.top >= 0 && at.bottom <= innerHeight)(document.querySelector("[data-live-news] button").getBoundingClientRect())`, &inView),
				chromedp.Click(`[data-live-news] button`),
				chromedp.WaitNotVisible(`[data-live-news] button`),
				evaluate(rows, &shown), evaluate(ticked, &after),
				picture("deliveries-shown"),
			)
			if !inView {
				t.Error("what is new is said out of view")
			}
			if moved || shown <= before || after != chosen {
				t.Errorf("moved before it was asked to: %t; %d rows, then %d; selected %q, then %q", moved, before, shown, chosen, after)
			}
			var same bool
			do(t, ctx, "look at the row", evaluate(`document.querySelector("tbody :checked").closest("tr") === window.chosen`, &same))
			if !same {
				t.Error("the selected row is another element than before")
			}
			do(t, ctx, "open the events", chromedp.Navigate(d.console+"/notifications/events?outcome=taken"), visible(`[data-live-on]`), evaluate(rows, &before))
			d.send(t)
			shown = 0
			for until := time.Now().Add(stepsTime); shown <= before; {
				if time.Now().After(until) {
					t.Fatalf("the list of events has %d rows, and had %d", shown, before)
				}
				do(t, ctx, "see more", visible(`tbody tr`), evaluate(rows, &shown))
			}
			do(t, ctx, "sign out elsewhere", // the page asks no more, and says why
				evaluate(`fetch("/sign-out", { method: "POST", redirect: "manual" }), ""`, &said),
				chromedp.WaitReady(`[data-stale="signed-out"]`),
				picture("events-signed-out"),
			)
		})
	}
}
