package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"outrigger/internal/notify"
	"outrigger/internal/notify/card"
	"outrigger/internal/notify/card/sample"
)

// renderedCard is what render.js tells of a card.
type renderedCard struct {
	Events  []string // what the renderer said against it
	Missing []string // elements that are not shown
	Text    string
	Links   []string
	Buttons []string
	Marks   []string // emphasis, headings and the like, which no card of ours has
}

// problems is what is wrong with a card by the renderer itself.
func (c *renderedCard) problems() []string {
	return slices.Concat(c.Events, c.Missing, c.Marks)
}

// renderer is a page in Chromium with Microsoft's renderer of Adaptive Cards.
func renderer(t *testing.T) context.Context {
	t.Helper()
	server := httptest.NewServer(http.FileServer(http.Dir(npmInstalled(t, "testdata/adaptivecards"))))
	t.Cleanup(server.Close)
	ctx := browser(t, 800)
	var ready bool
	do(t, ctx, "open the renderer", chromedp.Navigate(server.URL), chromedp.WaitReady(`main`), run(`typeof window.render === "function"`, &ready))
	if !ready {
		t.Fatal("the renderer is not there")
	}
	return ctx
}

// npmInstalled copies a folder, and installs the packages there that it names.
func npmInstalled(t *testing.T, folder string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v: %s", err, out)
	}
	return dir
}

// renderCard renders the card of a Teams message.
func renderCard(t *testing.T, ctx context.Context, message []byte) (c renderedCard) {
	t.Helper()
	var envelope struct {
		Attachments []struct{ Content json.RawMessage }
	}
	if err := json.Unmarshal(message, &envelope); err != nil || len(envelope.Attachments) != 1 {
		t.Fatalf("%v: %s", err, message)
	}
	do(t, ctx, "render", run(fmt.Sprintf(`render(%s)`, envelope.Attachments[0].Content), &c))
	return c
}

// words is a text as people read it: without regard to how its lines break.
func words(s string) string { return strings.Join(strings.Fields(s), " ") }

// Every golden card is one that the official renderer takes as a card of version
// 1.4 without a word against it, and shows whole: what people typed is what
// people see.
func TestOfficialRendererTakesEveryCard(t *testing.T) {
	t.Parallel()
	ctx := renderer(t)
	for _, x := range notify.EventTypes() {
		t.Run(x.String(), func(t *testing.T) {
			got := renderCard(t, ctx, golden(t, x.String()))
			if p := got.problems(); len(p) > 0 {
				t.Errorf("the renderer says %q", p)
			}
			e := sample.Event(x)
			c := card.New(&e)
			text := words(got.Text)
			for _, part := range parts(&c) {
				if !strings.Contains(text, words(part)) {
					t.Errorf("%q is not shown; the card says %q", part, text)
				}
			}
			for _, l := range c.Links {
				if !slices.Contains(got.Buttons, l.Title) {
					t.Errorf("there is no button %q in %q", l.Title, got.Buttons)
				}
			}
			for _, k := range c.Commits {
				if !slices.Contains(got.Links, k.URL) {
					t.Errorf("commit %s has no link in %q", k.ID, got.Links)
				}
			}
		})
	}
	t.Run("digest", func(t *testing.T) {
		got := renderCard(t, ctx, golden(t, "digest"))
		if p := got.problems(); len(p) > 0 || !strings.Contains(got.Text, "notifications") {
			t.Errorf("the renderer says %q; the card says %q", p, got.Text)
		}
	})
	t.Run("mentions", func(t *testing.T) {
		got := renderCard(t, ctx, golden(t, "mentions"))
		if p := got.problems(); len(p) > 0 || !strings.Contains(got.Text, "<at>Grace Hopper</at>, <at>Alan Turing</at>") {
			t.Errorf("the renderer says %q; the card says %q", p, got.Text)
		}
	})
	renderCard(t, ctx, golden(t, notify.PullRequestOpened.String()))
	do(t, ctx, "look", look(t, "adaptive-card"))
	refusals(t, ctx)
}

func golden(t *testing.T, name string) []byte {
	t.Helper()
	message, err := os.ReadFile(filepath.Join("../internal/notify/teams/testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	return message
}

// parts are the texts that a card shows. A list's own marks are left out.
func parts(c *card.Card) []string {
	all := []string{c.Title, c.Branch, c.CommitsMore()}
	for _, f := range c.Facts {
		all = append(all, f.Name, f.Value)
	}
	for _, k := range c.Commits {
		all = append(all, k.ID, k.Message, k.Author)
	}
	return append(all, strings.Split(c.Text, "\n")...)
}

// refusals are cards that the renderer finds fault with: a check that could not
// fail would say nothing of ours.
func refusals(t *testing.T, ctx context.Context) {
	const envelope = `{"attachments":[{"content":{"type":"AdaptiveCard","version":"1.4","body":[%s]}}]}`
	for name, body := range map[string]string{
		"an unknown element":         `{"type":"TextBox","text":"x"}`,
		"an element of version 1.5":  `{"type":"Table","columns":[{"width":1}],"rows":[{"type":"TableRow","cells":[{"type":"TableCell","items":[{"type":"TextBlock","text":"x"}]}]}]}`,
		"a value that is not one":    `{"type":"TextBlock","text":"x","weight":"Heavy"}`,
		"an empty text":              `{"type":"TextBlock","text":""}`,
		"emphasis that nobody meant": `{"type":"TextBlock","text":"a _b_ c"}`,
	} {
		if got := renderCard(t, ctx, []byte(fmt.Sprintf(envelope, body))); len(got.problems()) == 0 {
			t.Errorf("%s is taken: %+v", name, got)
		}
	}
}

// The rule form shows the cards of the events as they are ticked, and in the
// format of the channel.
func TestCardsFollowTheRuleForm(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	ctx := browser(t, 1280)
	var before, teams, slack string
	do(t, ctx, "sign in",
		chromedp.Navigate(d.console+"/notifications/rules/new"),
		visible(`input[name=password]`),
		chromedp.SendKeys(`input[name=user]`, "admin"),
		chromedp.SendKeys(`input[name=password]`, d.password),
		chromedp.Submit(`input[name=password]`),
		visible(`.shown-cards`),
		read(`.shown-cards`, &before),
	)
	do(t, ctx, "tick an event",
		chromedp.Click(`input[value=PULL_REQUEST_OPENED]`),
		visible(`.chat-card.teams`),
		read(`.chat-card`, &teams),
		look(t, "rule-cards"),
		chromedp.Click(`//label[contains(., "All of these")]//input`), // of the first group
		chromedp.WaitReady(`.shown-cards details:nth-of-type(8)`),
		chromedp.Click(`//label[contains(., "All of these")]//input`),
		chromedp.WaitNotPresent(`.shown-cards details:nth-of-type(2)`),
	)
	do(t, ctx, "enter an address of Slack",
		chromedp.SendKeys(`input[name=webhookUrl]`, "https://hooks.slack.com/services/T0/B0/secret\t"),
		visible(`.chat-card.slack`),
		read(`.chat-card`, &slack),
		look(t, "rule-cards-slack"),
	)
	if !strings.Contains(before, "Choose events") || !strings.Contains(teams, "opened pull request #12") || !strings.Contains(slack, "opened pull request #12") {
		t.Errorf("the form shows %q, then %q, then %q", before, teams, slack)
	}
}
