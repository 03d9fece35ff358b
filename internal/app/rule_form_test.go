package app

import (
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

// The whole rule form, as it is without JavaScript.
func TestTheRuleForm(t *testing.T) {
	t.Parallel()
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	a := start(t, cfg)
	form := func(more url.Values) url.Values {
		f := url.Values{
			"name": {"Nights"}, "connection": {"dc"}, "webhookUrl": {"https://chat.example.com/hooks/a"}, "format": {"auto"},
			"eventTypes": {"all of Pull requests", "TAG_CREATED"}, "enabled": {"true"},
		}
		maps.Copy(f, more)
		return f
	}

	// A group is ticked as a whole, here while branch names are tried.
	status, body := consolePage(t, a, "/notifications/rules/new", form(url.Values{
		"do": {"masks"}, "names": {"release/1.2"}, "branchMask": {"release/.*"},
	}))
	for _, want := range []string{
		"<code>release/1.2</code>",
		`value="PULL_REQUEST_MERGED" checked`, `value="TAG_CREATED" checked`, "release/.*",
	} {
		if status != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("trying a branch: %d, without %q", status, want)
		}
	}
	// What is probably a wildcard is said before it is saved: at its field when the
	// masks are tried, and as it is typed.
	wildcard := form(url.Values{"branchMask": {"release/*"}, "names": {"release/1.2"}})
	const said = "This looks like a wildcard"
	wildcard.Set("do", "masks")
	if _, tried := consolePage(t, a, "/notifications/rules/new", wildcard); !strings.Contains(tried, said) {
		t.Error("trying the masks says nothing of a wildcard")
	}
	wildcard.Del("do")
	if _, live := consolePage(t, a, "/notifications/rules/try", wildcard); !strings.Contains(live, said) || !strings.Contains(live, "Branch mask:") {
		t.Errorf("the form as it is typed says nothing of a wildcard: %s", live)
	}
	long := form(url.Values{"branchMask": {strings.Repeat("a", 10_000)}, "names": {"main"}, "do": {"masks"}})
	if _, tried := consolePage(t, a, "/notifications/rules/new", long); !strings.Contains(tried, "because the mask or a name is long") || strings.Contains(tried, "needs backtracking") {
		t.Error("a long literal mask is said to need backtracking")
	}

	// Save and test stay in view, and the parts can be gone to.
	if bar := body[strings.Index(body, `class="submit bar"`):]; !strings.Contains(bar[:400], "Save rule") || !strings.Contains(bar[:400], `value="test"`) {
		t.Errorf("the bar is %s", bar[:400])
	}
	if !strings.Contains(body, `<a href="#whom">`) {
		t.Error("no contents")
	}
	if strings.Contains(body, `value="BRANCH_CREATED" checked`) {
		t.Error("another group is ticked")
	}

	// Enter presses the first button of the form, which saves.
	theForm := body[strings.Index(body, `id="rule"`):]
	if first := regexp.MustCompile(`<button[^>]*>`).FindString(theForm); strings.Contains(first, "name=") {
		t.Errorf("Enter presses %s", first)
	}
	if cards, trial := strings.Index(body, `id="cards"`), strings.Index(body, `id="trial"`); cards < 0 || cards > trial {
		t.Errorf("the cards are at %d, the last events at %d", cards, trial)
	}

	// Every error is at its field, and what was typed stays.
	status, body = consolePage(t, a, "/notifications/rules/new", form(url.Values{
		"quietFrom": {"10 pm"}, "quietTo": {"6:00"}, "quietTimeZone": {"Nowhere"}, "quietUrgent": {"BRANCH_CREATED"}, "quietDays": {"MONDAY", "FUNDAY"},
		"groups": {"devs"}, "branchMask": {"("},
	}))
	if status != http.StatusBadRequest || !strings.Contains(body, `value="10 pm"`) {
		t.Errorf("a wrong form: %d", status)
	}
	wrong := map[string]bool{}
	for _, m := range regexp.MustCompile(`id="f-([A-Za-z]+)-error"`).FindAllStringSubmatch(body, -1) {
		wrong[m[1]] = true
	}
	for _, field := range []string{"quietFrom", "quietTo", "quietTimeZone", "quietDays", "quietUrgent", "groups", "branchMask"} {
		if !wrong[field] {
			t.Errorf("no error at %s: %v", field, wrong)
		}
	}

	// Saved, read back, and saved again nothing is lost.
	status, body = consolePage(t, a, "/notifications/rules/new", form(url.Values{
		"quietFrom": {"22:00"}, "quietTo": {"06:00"}, "quietTimeZone": {"Europe/Berlin"}, "quietDays": {"MONDAY", "FRIDAY"}, "quietUrgent": {"TAG_CREATED"},
		"mentionReviewers": {"true"}, "reviewers": {"ada"}, "sourceBranchMask": {"fix/.*"}, "ignoredBranchMask": {"wip/.*"},
	}))
	if status != http.StatusSeeOther {
		t.Fatalf("saving: %d %s", status, body)
	}
	_, body = consolePage(t, a, "/notifications/rules/1", nil)
	for _, want := range []string{
		`name="quietFrom" value="22:00"`, `name="quietTimeZone" value="Europe/Berlin"`, `value="FRIDAY" checked`, `name="quietUrgent" value="TAG_CREATED" checked`,
		`name="mentionReviewers" value="true" checked`, `value="fix/.*"`, `value="wip/.*"`, `value="PULL_REQUEST_DECLINED" checked`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the saved rule's form has no %q", want)
		}
	}

	// Saving what another user has changed shows what changed, and keeps the input.
	edit := func(version, branches string) url.Values {
		return form(url.Values{"version": {version}, "branches": {branches}, "webhookUrl": {""}, "name": {"Nights"}})
	}
	if status, body := consolePage(t, a, "/notifications/rules/1", edit("1", "main")); status != http.StatusSeeOther {
		t.Fatalf("the first save: %d %s", status, body)
	}
	mine := edit("1", "mine")
	mine.Set("name", "My nights")
	status, body = consolePage(t, a, "/notifications/rules/1", mine)
	for _, want := range []string{
		"saved this rule while you edited it", `<th scope="row">Branches</th><td data-label="Before">nothing</td><td data-label="Now">main</td>`,
		`<th scope="row">Quiet hours</th>`, `href="/notifications/rules/1">Open the rule as it is now`, `value="My nights"`, `name="version" value="2"`,
	} {
		if status != http.StatusConflict || !strings.Contains(body, want) {
			t.Errorf("a stale save: %d, without %q", status, want)
		}
	}
	mine.Set("version", "2")
	if status, _ := consolePage(t, a, "/notifications/rules/1", mine); status != http.StatusSeeOther {
		t.Errorf("saved once more: %d", status)
	}

	// Rules are found by name, among those of every level.
	for search, want := range map[string]string{"NIGHT": `/notifications/rules/1"`, "days": "No matching rules"} {
		if _, list := consolePage(t, a, "/notifications/rules?search="+search, nil); !strings.Contains(list, want) || !strings.Contains(list, ">All</a>") {
			t.Errorf("searching %s: %s", search, list)
		}
	}

	// Its switch in the list, its test and its deletion lead back to the list as it was.
	admin := newPerson(t, a, "admin")
	for _, query := range []string{"", "search=my+nights", "level=global&search=my+nights"} {
		_, _, list := admin.send("GET", "/notifications/rules?"+query, nil)
		switched := strings.Contains(list, `aria-pressed="true"`)
		for what, link := range map[string]*regexp.Regexp{"enabled": listAction("enabled"), "test": listAction("test")} {
			found := link.FindStringSubmatch(list)
			if found == nil {
				t.Fatalf("the list %q has no %s", query, what)
			}
			status, at, _ := admin.send("POST", html.UnescapeString(found[1]), url.Values{"enabled": {strconv.FormatBool(!switched)}})
			if status != http.StatusOK || at.Path != "/notifications/rules" || at.RawQuery != query {
				t.Errorf("%s from the list %q leads to %s: %d", what, query, at, status)
			}
		}
		if _, _, list = admin.send("GET", "/notifications/rules?"+query, nil); strings.Contains(list, `aria-pressed="true"`) == switched {
			t.Errorf("in the list %q the switch stays as it was", query)
		}
		_, _, ask := admin.send("GET", html.UnescapeString(listAction("delete").FindStringSubmatch(list)[1]), nil)
		if back := "/notifications/rules" + strings.TrimSuffix("?"+query, "?"); !strings.Contains(html.UnescapeString(ask), `href="`+back+`" data-cancel`) {
			t.Errorf("a deletion that is cancelled does not lead back to the list %q", query)
		}
	}
	_, _, list := admin.send("GET", "/notifications/rules?search=my+nights", nil)
	_, _, ask := admin.send("GET", html.UnescapeString(listAction("delete").FindStringSubmatch(list)[1]), nil)
	status, at, _ := admin.send("POST", html.UnescapeString(listAction("delete").FindStringSubmatch(ask)[1]), nil)
	if status != http.StatusOK || at.RequestURI() != "/notifications/rules?search=my+nights" {
		t.Errorf("deleted, one is at %s: %d", at, status)
	}
}

// listAction finds where a row of the rules leads, and what it posts to.
func listAction(what string) *regexp.Regexp {
	return regexp.MustCompile(`(?:href|action)="[^"]*(/notifications/rules/1/` + what + `[^"]*)"`)
}
