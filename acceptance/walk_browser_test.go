package acceptance

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestWays walks three ways of administrators by keyboard alone, and without
// JavaScript: a rule is made and its first card arrives, a channel that broke gets
// another URL, and comments are migrated from the files to the finished report.
func TestWays(t *testing.T) { walkAll(t, 1280) }

// walkAll walks them in a window of that width.
func walkAll(t *testing.T, width int64) {
	t.Parallel()
	broken := startDemo(t) // a channel counts as broken after a minute: meanwhile the other ways are walked
	broken.mode(t, "gone")
	broken.send(t)
	for _, way := range []struct {
		name  string
		begun func(t *testing.T) demo
		walk  func(w walk)
	}{
		{"rule", startDemo, ruleAndItsFirstCard},
		{"migration", startDemo, migrationToTheReport},
		{"channel", func(*testing.T) demo { return broken }, channelGetsAnotherURL},
	} {
		for _, with := range []struct {
			name string
			make func(v *visitor) driver
		}{
			{"by-keyboard", func(v *visitor) driver { return byKeyboard{v} }},
			{"without-scripts", func(v *visitor) driver { return withoutScripts{v} }},
		} {
			t.Run(way.name+"-"+with.name, func(t *testing.T) {
				v := &visitor{t: t, ctx: browser(t, int(width)), d: way.begun(t)}
				w := walk{v, with.make(v), fmt.Sprintf("-%s-%d", with.name, width)}
				do(t, v.ctx, "begin", inFront, chromedp.EmulateViewport(width, 800))
				w.begins()
				way.walk(w)
				t.Logf("%+v", v.taken)
				if len(v.unseen) > 0 {
					t.Errorf("what has the focus is not seen:\n%s", strings.Join(v.unseen, "\n"))
				}
			})
		}
	}
}

// walk is one person's way through a demo.
type walk struct {
	*visitor
	driver
	picture string // what the names of its pictures end in
}

func ruleAndItsFirstCard(w walk) {
	w.opens(w.d.chat)
	url := w.reads("input.webhook")
	w.signsIn()
	w.goes("Rules")
	w.sees("walk-rules", ".list", "")
	w.uses(link, "Add a rule")
	w.sees("walk-rule-form", "#f-name", "")
	w.enters("Name", "Reviews for me")
	before := w.taken.stops
	w.uses(button, "Reviews")
	w.sees("walk-rule-preset", "[value=reviews][aria-pressed=true]", "")
	w.enters("Webhook URL", url)
	w.enters("Channel name", "mine")
	w.uses(button, "Save rule")
	if stops := w.taken.stops - before; stops > maxStops {
		w.t.Errorf("%d stops of the Tab key from the name to saving, want at most %d", stops, maxStops)
	}
	w.sees("walk-rule-saved", ".flash.good", "Reviews for me")
	w.opens(w.d.chat)
	w.uses(button, "Send 10")
	w.waits("section:has(article) h2", nameIn(url))
	w.sees("walk-first-card", "article", "pull request")
}

func channelGetsAnotherURL(w walk) {
	w.signsIn()
	w.waits(".attention li.bad", "is broken")
	w.sees("walk-broken", ".attention li.bad", "WorkflowNotFound")
	w.opens(w.d.chat)
	url := w.reads("input.webhook")
	w.picks(field, "The chat platform is", "friendly")
	w.uses(button, "Change")
	w.waits("select:has(option:first-child[selected])", "friendly")
	w.opens(w.d.console)
	w.uses(".attention a", "Replace the webhook URL")
	w.sees("walk-replace", "#f-webhookUrl", "")
	w.enters("New webhook URL", url)
	w.picks(radio, "All", " ")
	w.uses(button, "Test and replace")
	w.sees("walk-replaced", ".flash.good", "replaced")
	w.opens(w.d.chat)
	w.waits("section:has(article) h2", nameIn(url))
	w.sees("walk-what-waited", "article", "")
}

func migrationToTheReport(w walk) {
	w.opens(w.d.chat + "/cloud/")
	hierarchy, mappings := w.fetches("a[href$='.json']"), w.fetches("a[href$='.csv']")
	w.signsIn()
	w.goes("Threaded Comments Admin")
	w.sees("walk-threads", "#files[open]", "")
	w.sends("hierarchy", hierarchy)
	w.sends("mappings", mappings)
	w.waits(".verdict", "1,824 of 1,868")
	w.sees("walk-threads-preview", ".verdict", "")
	w.uses(button, "Upload Data")
	w.waits(".stage.current button", "Start Processing")
	w.sees("walk-threads-loaded", ".stage.current", "")
	w.uses(button, "Start Processing")
	w.waits("p.now", "1,824 of 1,824 relationships are in the target")
	w.sees("walk-threads-done", "a.main", "Report")
	w.uses(link, "Report")
	w.sees("walk-threads-report", "h1", "Migration of threaded comments")
	if text := w.reads("main"); strings.Contains(text, "Not final") || !strings.Contains(text, "Signature") {
		w.t.Errorf("the report is not finished:\n%s", text)
	}
}

// nameIn is what the chat platform calls the channel of a webhook URL.
func nameIn(url string) string {
	_, rest, _ := strings.Cut(url, "/workflows/")
	name, _, _ := strings.Cut(rest, "/")
	return "# " + name + " "
}

// opens opens an address that the demo prints.
func (w walk) opens(address string) {
	w.t.Helper()
	do(w.t, w.ctx, "open "+address, chromedp.Navigate(address), shown("h1", ""))
}

// sees waits for what the page that was asked for has, and holds that all of it fits.
func (w walk) sees(name, selector, text string) {
	w.t.Helper()
	var misfit string
	do(w.t, w.ctx, "see "+name, shown(selector, text), look(w.t, name+w.picture), evaluate(misfits, &misfit))
	if misfit != "" {
		w.t.Errorf("%s: %s", name, misfit)
	}
}

func (w walk) signsIn() {
	w.t.Helper()
	w.opens(w.d.console)
	w.enters("User name", "admin")
	w.enters("Password", w.d.password)
	w.uses(button, "Sign in")
	w.sees("walk-overview", ".cards", "")
}

func (w walk) reads(selector string) (text string) {
	w.t.Helper()
	do(w.t, w.ctx, "read "+selector, evaluate(fmt.Sprintf(`((e) => e.value ?? e.innerText)(document.querySelector(%q))`, selector), &text))
	return text
}

// fetches downloads what a link of the page leads to.
func (w walk) fetches(selector string) string {
	w.t.Helper()
	var address string
	do(w.t, w.ctx, "look for "+selector, evaluate(fmt.Sprintf(`document.querySelector(%q).href`, selector), &address))
	resp, err := http.Get(address)
	if err != nil {
		w.t.Fatal(err)
	}
	defer resp.Body.Close()
	name := filepath.Join(w.t.TempDir(), path.Base(address))
	content, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode == http.StatusOK {
		err = os.WriteFile(name, content, 0o600)
	}
	if err != nil || len(content) == 0 {
		w.t.Fatal(address, resp.Status, err)
	}
	return name
}
