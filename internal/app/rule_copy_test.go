package app

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"outrigger/internal/config"
	"outrigger/internal/playground/samples"
	"outrigger/internal/secret"
)

// The presets of the rule form, as they are without JavaScript: what was typed stays,
// and nothing is saved.
func TestPresetsOfTheRuleForm(t *testing.T) {
	t.Parallel()
	a := startWithConnection(t)
	for preset, want := range map[string][]string{
		"reviews":    {`value="PULL_REQUEST_APPROVED" checked`, `-value="TAG_CREATED" checked`, `-value="REPOSITORY_FORKED" checked`},
		"releases":   {`value="TAG_CREATED" checked`, `-value="PULL_REQUEST_APPROVED" checked`},
		"builds":     {`value="BUILD_STATUS_SET" checked`, `-value="PIPELINE_FAILED"`},
		"everything": {`value="TAG_CREATED" checked`, `value="REPOSITORY_FORKED" checked`},
	} {
		status, body := consolePage(t, a, "/notifications/rules/new", url.Values{
			"name": {"Typed"}, "connection": {"dc"}, "format": {"auto"}, "eventTypes": {"REPOSITORY_FORKED"}, "preset": {preset},
		})
		for _, text := range append(want, `value="Typed"`, `value="`+preset+`" formnovalidate`) {
			text, missing := strings.CutPrefix(text, "-")
			if status != http.StatusOK || strings.Contains(body, text) == missing {
				t.Errorf("%s: %d, %q is there: %t", preset, status, text, !missing)
			}
		}
	}
	if _, list := consolePage(t, a, "/notifications/rules", nil); strings.Contains(list, "Typed") {
		t.Error("a preset saved the rule")
	}
}

func startWithConnection(t *testing.T) *App {
	t.Helper()
	cfg := settings(t)
	cfg.Notify.Connections = []config.Connection{{
		Name: "dc", Kind: config.KindBitbucketDC, BaseURL: samples.BaseURL, WebhookSecret: secret.New("s"),
	}}
	return start(t, cfg)
}

// A copy has what the rule has but its webhook URL; a rule that does the same as
// another is saved, and points the other out until it differs.
func TestARuleIsDuplicated(t *testing.T) {
	t.Parallel()
	a := startWithConnection(t)
	const address = "https://chat.example.com/hooks/secret-of-the-channel"
	long := strings.Repeat("שם", 127) + "x" // 255 characters
	rule := url.Values{
		"name": {long}, "connection": {"dc"}, "projectKey": {"ATL"}, "format": {"auto"}, "channelName": {"Releases"}, "enabled": {"true"},
		"eventTypes": {"TAG_CREATED", "TAG_DELETED"}, "users": {"ada\nbob"}, "repositories": {"ATL/canoe\nATL/engine"}, "branchMask": {"v.*"},
		"quietFrom": {"22:00"}, "quietTo": {"06:00"}, "quietTimeZone": {"Europe/Berlin"}, "webhookUrl": {address},
	}
	if status, body := consolePage(t, a, "/notifications/rules/new?level=project", rule); status != http.StatusSeeOther {
		t.Fatalf("saving: %d %s", status, body)
	}
	_, page := consolePage(t, a, "/notifications/rules/1", nil)
	const duplicate = "/notifications/rules/new?level=project&amp;from=1"
	if !strings.Contains(page, duplicate) || strings.Contains(page, "Another rule does the same") {
		t.Error("the page of a rule leads to no copy, or points out a rule that is not there")
	}
	_, copied := consolePage(t, a, "/notifications/rules/new?level=project&from=1", nil)
	for _, want := range []string{
		`value="Copy of שם`, `value="ATL"`, `value="TAG_DELETED" checked`, "ada\nbob", "ATL/canoe\nATL/engine", `value="v.*"`, `value="22:00"`, `name="version" value=""`,
	} {
		if !strings.Contains(copied, want) {
			t.Errorf("the copy is without %q", want)
		}
	}
	if strings.Contains(copied, "secret-of-the-channel") {
		t.Error("the copy shows the webhook URL")
	}
	for _, none := range []string{"17", "x"} {
		if status, _ := consolePage(t, a, "/notifications/rules/new?level=project&from="+none, nil); status != http.StatusNotFound {
			t.Errorf("a copy of the rule %s: %d", none, status)
		}
	}

	rule.Set("name", "The same again")
	rule.Set("users", "BOB\nada")
	rule.Set("repositories", "ATL/engine\natl/canoe")
	if status, _ := consolePage(t, a, "/notifications/rules/new?level=project", rule); status != http.StatusSeeOther {
		t.Fatalf("saving a rule that does the same: %d", status)
	}
	for path, other := range map[string]string{"/notifications/rules/1": "2", "/notifications/rules/2": "1"} {
		if _, page := consolePage(t, a, path, nil); !strings.Contains(page, "Another rule does the same") || !strings.Contains(page, `href="/notifications/rules/`+other+`"`) {
			t.Errorf("%s does not point out rule %s", path, other)
		}
	}
	rule.Set("name", "Another")
	rule.Set("branchMask", "V.*")
	if status, _ := consolePage(t, a, "/notifications/rules/new?level=project", rule); status != http.StatusSeeOther {
		t.Fatalf("saving another rule: %d", status)
	}
	if _, page := consolePage(t, a, "/notifications/rules/3", nil); strings.Contains(page, "Another rule does the same") {
		t.Error("a rule with another mask is said to do the same")
	}
}
