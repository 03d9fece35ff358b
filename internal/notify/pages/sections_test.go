package pages

import (
	"maps"
	"regexp"
	"slices"
	"testing"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

func TestFoldedSectionsSayWhatIsChosen(t *testing.T) {
	form := func(level notify.Level, fill func(*console.Form)) ruleForm {
		f := console.NewForm().Set("format", string(notify.Auto)).SetBool("enabled", true)
		fill(f)
		return ruleForm{Form: f, Level: level, At: rulePlace{Level: level}, Events: eventGroups(notify.SelfHosted)}
	}
	cloud := form(notify.RepositoryLevel, func(f *console.Form) {
		f.Set("eventTypes", "PIPELINE_FAILED").Set("expectedCommitStatus", string(notify.StatusFailure)).Set("destinationBranchFilter", "^main$")
	})
	cloud.At, cloud.Events, cloud.Statuses = rulePlace{Workspace: "atlas", Repository: "engine"}, eventGroups(notify.Cloud), commitStatuses
	stored := form(notify.Global, func(f *console.Form) { f.SetBool("enabled", false) })
	stored.Stored, stored.Mask = &notify.RuleInfo{Rule: notify.Rule{ProjectKey: "ATL", RepositoryKey: "canoe"}}, "https://chat.example.com/…"
	for name, c := range map[string]struct {
		form                   ruleForm
		when, where, who, whom string
	}{
		"empty": {form(notify.Global, func(*console.Form) {}), "no events yet", "every project; every branch", "everyone", "no webhook URL yet"},
		"a little": {form(notify.ProjectLevel, func(f *console.Form) {
			f.Set("eventTypes", "TAG_CREATED", "BRANCH_UPDATED").Set("projectKey", "ATL").Set("branchMask", "release/.*").
				SetLines("users", []string{"ada", "bob"}).Set("channelName", "Releases").SetBool("mentionReviewers", true)
		}), "Branch updated (push), Tag created", "project ATL; branches like release/.*", "only ada, bob", "Releases; mentions reviewers"},
		"much": {form(notify.Global, func(f *console.Form) {
			tickAll(f.Set("eventTypes", "all of Pull requests", "TAG_CREATED"), "eventTypes", eventGroups(notify.SelfHosted))
			f.SetLines("projects", []string{"ATL", "PAC", "IND", "ARC"}).SetLines("branches", []string{"main"}).Set("ignoredBranchMask", "wip/.*").Set("sourceBranchMask", "fix/.*")
			f.SetLines("ignoredUsers", []string{"bot"}).SetLines("groups", []string{"devs"}).SetLines("ignoredGroups", []string{"ci"}).SetLines("reviewers", []string{"ada"})
			f.Set("webhookUrl", "https://chat.example.com/secret").Set("quietFrom", "22:00").Set("quietTo", "06:00").Set("quietTimeZone", "Europe/Berlin")
		}), "Tag created, Pull request opened and 14 more", "projects ATL, PAC and 2 more; branches main; never branches like wip/.*; source branches like fix/.*",
			"never bot; members of devs; never members of ci; reviewers ada", "a new webhook URL"},
		"cloud":  {cloud, "Pipeline failed; builds: failure only (failed or stopped)", "atlas/engine; branches with ^main$", "", "no webhook URL yet"},
		"stored": {stored, "no events yet", "ATL/canoe; every branch", "everyone", "https://chat.example.com/…; disabled"},
	} {
		for id, want := range map[string]string{"when": c.when, "where": c.where, "who": c.who, "whom": c.whom} {
			if got := c.form.Section(id, "").Chosen; want != "" && got != want {
				t.Errorf("%s, %s: it says %q, want %q", name, id, got, want)
			}
		}
	}
}

func TestWhichSectionsAreOpen(t *testing.T) {
	stored := new(notify.RuleInfo)
	quiet := console.NewForm()
	quiet.Refuse(&fault.Error{Code: fault.Invalid, Fields: []fault.Field{{Name: "quietTo", Message: "There is no such time."}}})
	wrong := console.NewForm()
	wrong.Refuse(&fault.Error{Code: fault.Invalid, Fields: []fault.Field{{Name: "groups[1]", Message: "There is no such group."}}})
	warned := console.NewForm()
	warned.Warn("branchMask", "This looks like a wildcard.")
	two := []console.Option{{Value: "a"}, {Value: "b"}}
	for name, c := range map[string]struct {
		form ruleForm
		want string
	}{
		"a new global rule":         {ruleForm{Form: console.NewForm(), Level: notify.Global, Connections: two[:1]}, "when whom"},
		"with connections":          {ruleForm{Form: console.NewForm(), Level: notify.Global, Connections: two}, "when where whom"},
		"a new rule of a project":   {ruleForm{Form: console.NewForm(), Level: notify.ProjectLevel}, "when where whom"},
		"a new rule of the cloud":   {ruleForm{Form: console.NewForm(), Level: notify.RepositoryLevel, At: rulePlace{Repository: "engine"}}, "when whom"},
		"a stored one":              {ruleForm{Form: console.NewForm(), Stored: stored}, ""},
		"with a wrong time":         {ruleForm{Form: quiet, Stored: stored}, "quiet"},
		"with an error":             {ruleForm{Form: wrong, Stored: stored}, "who"},
		"with a warning":            {ruleForm{Form: warned, Stored: stored}, "where"},
		"with names that are tried": {ruleForm{Form: console.NewForm(), Stored: stored, TriedMasks: make([]triedMask, 1)}, "where"},
	} {
		got := ""
		for _, id := range []string{"when", "where", "who", "whom", "quiet"} {
			if c.form.Section(id, "").Open {
				got += " " + id
			}
		}
		if got != "" {
			got = got[1:]
		}
		if got != c.want {
			t.Errorf("%s: %q are open, want %q", name, got, c.want)
		}
	}
}

// Every field of the two forms is in a section, which opens for an error at it.
func TestEveryFieldIsInASection(t *testing.T) {
	for file, sections := range map[string]map[string][]string{"rule-form.html": ruleSections, "report-form.html": reportSections} {
		page, err := pageFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		listed := slices.Collect(maps.Values(sections))
		for _, m := range regexp.MustCompile(`\(\.(?:Text|Area|Select|Secret|Check|Checks) "(\w+)"`).FindAllSubmatch(page, -1) {
			name := string(m[1])
			if name != "name" && !slices.ContainsFunc(listed, func(fields []string) bool { return slices.Contains(fields, name) }) {
				t.Errorf("%s: the field %s is in no section", file, name)
			}
		}
	}
}

func TestReportSections(t *testing.T) {
	f := reportForm{Form: console.NewForm().Set("repository", "ATL/canoe").Set("inactivityDays", "7").SetBool("skipDrafts", true).Set("targetBranchMask", "main").
		Set("frequency", string(notify.Weekly)).Set("day", "MONDAY").Set("time", "09:00").Set("timeZone", "Europe/Berlin").Set("channelName", "Reviews")}
	for id, want := range map[string]string{
		"what": "ATL/canoe; 7 days without activity; no drafts; target branches like main", "when": "Mondays at 09:00 Europe/Berlin", "whom": "Reviews; disabled",
	} {
		if s := f.Section(id, ""); s.Chosen != want || !s.Open {
			t.Errorf("%s of a new report: %+v, want %q", id, s, want)
		}
	}
	f.Stored = new(notify.ReportInfo)
	f.Refuse(&fault.Error{Code: fault.Invalid, Fields: []fault.Field{{Name: "timeZone", Message: "There is no such zone."}}})
	for id, want := range map[string]bool{"what": false, "when": true, "whom": false} {
		if s := f.Section(id, ""); s.Open != want {
			t.Errorf("%s of a stored report with a wrong zone is open: %t", id, s.Open)
		}
	}
}
