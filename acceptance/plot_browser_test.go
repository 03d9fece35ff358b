package acceptance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// axisOf is what stands on the time axis of the first plot of a page.
const axisOf = `[...document.querySelectorAll(".axis text")].slice(0, 4).map((mark) => mark.textContent).join(" ")`

// point moves the pointer over the first plot of a page, to so much of its width.
const point = `(() => {
	const svg = document.querySelector(".plot"), box = svg.getBoundingClientRect();
	svg.dispatchEvent(new PointerEvent("pointermove", { bubbles: true, clientX: box.left + %g * box.width, clientY: box.top + box.height / 2 }));
	return document.querySelector(".plot-value").textContent;
})()`

// A plot has whole hours on its axis and ends now; it says its numbers under the pointer
// and by the arrow keys, and as a table.
func TestPlotsSayTheirNumbers(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	do(t, ctx, "sign in", d.signIn()...)
	d.send(t)
	page := fmt.Sprintf("%s/notifications/channels/%d", d.console, d.channel(t, "reviews").ID)
	waitFor(t, func() bool { return d.channel(t, "reviews").Waiting == 0 })
	var axis, hovered, before, focused, left, table string
	do(t, ctx, "look at a channel's day",
		chromedp.Navigate(page), visible(`.plot`),
		evaluate(axisOf, &axis),
		evaluate(fmt.Sprintf(point, 0.995), &hovered), evaluate(fmt.Sprintf(point, 0.3), &before), look(t, "plot"),
		evaluate(`document.querySelector(".plot").focus(), ""`, &focused),
		chromedp.KeyEvent(kb.ArrowLeft), visible(`.plot-value`), read(`.plot-value`, &left),
		chromedp.Click(`.plot-table summary`), visible(`.plot-table tbody tr`), read(`.plot-table tbody`, &table),
	)
	if !regexp.MustCompile(`^(\d\d:00 ){3}now$`).MatchString(axis) {
		t.Errorf("the axis has %q", axis)
	}
	said := regexp.MustCompile(`^\d\d:00: [1-9]\d* delivered, \d+ waiting, 0 failed$`)
	if !said.MatchString(hovered) || left != hovered || before != "" {
		t.Errorf("under the pointer %q, where nothing was %q, by keys %q", hovered, before, left)
	}
	if hour, _, _ := strings.Cut(left, ":00:"); !strings.HasPrefix(table, hour) {
		t.Errorf("the table has %q", table)
	}
}

// A plot is as wide as its panel, and its marks are on whole hours of the reader's zone
// where that is not whole hours from UTC, each below its line.
func TestPlotsFillTheirPanel(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	d.send(t)
	waitFor(t, func() bool { return d.channel(t, "reviews").Waiting == 0 })
	const measured = `(() => {
		const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect(), panel = plot.closest(".card");
		const lines = [...plot.querySelectorAll("[data-mark]")].map((line) => line.getBoundingClientRect().left);
		const apart = [...document.querySelector(".axis").querySelectorAll("[data-at]")].map((mark, i) => {
			const at = mark.getBoundingClientRect();
			return Math.abs(at.left + at.width / 2 - lines[i]);
		});
		const style = getComputedStyle(panel);
		return { room: panel.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - box.width, apart: Math.max(...apart) };
	})()`
	for _, zone := range []string{"Asia/Kolkata", "Asia/Kathmandu", "Europe/Berlin"} {
		for _, width := range []int{1280, 390} {
			ctx := browser(t, width, chromedp.Env("TZ="+zone))
			do(t, ctx, "sign in", d.signIn()...)
			var axis string
			var got struct{ Room, Apart float64 }
			do(t, ctx, "look at a channel's day",
				chromedp.Navigate(fmt.Sprintf("%s/notifications/channels/%d", d.console, d.channel(t, "reviews").ID)), visible(`.plot`), settled,
				evaluate(axisOf, &axis), evaluate(measured, &got), look(t, fmt.Sprintf("plot-%d", width)))
			if !regexp.MustCompile(`^(\d\d:00 ){3}now$`).MatchString(axis) {
				t.Errorf("%s at %d pixels: the axis has %q", zone, width, axis)
			}
			if got.Room > 1 || got.Apart > 2 {
				t.Errorf("%s at %d pixels: %v pixels are left beside the plot, a mark is %v from its line", zone, width, got.Room, got.Apart)
			}
		}
	}
}

// A fresh server has no axis of ten messages that never were.
func TestAFreshServerDrawsNothing(t *testing.T) {
	t.Parallel()
	d := startFresh(t)
	ctx := browser(t, 1280)
	var overview, mail string
	var plots int
	do(t, ctx, "open the overview", append(d.signIn(),
		visible(`.services .no-data`), read(`.services`, &overview), evaluate(`document.querySelectorAll(".plot").length`, &plots), look(t, "overview-fresh"),
		chromedp.Navigate(d.console+"/mail"), visible(`.course .no-data`), read(`main`, &mail))...)
	if plots > 0 || strings.Contains(overview+mail, "10 messages") {
		t.Errorf("%d plots: %q, %q", plots, overview, mail)
	}
}
