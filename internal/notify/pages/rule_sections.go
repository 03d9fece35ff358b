package pages

import (
	"slices"
	"strconv"
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/notify"
)

// ruleSections are the fields of each section of the form of a rule.
var ruleSections = map[string][]string{
	"when": {"eventTypes", "expectedCommitStatus"},
	"where": {"connection", "projectKey", "repositoryKey", "projects", "repositories", "branches", "branchMask", "ignoredBranchMask",
		"sourceBranchMask", "destinationBranchFilter", "names"},
	"who":   {"users", "ignoredUsers", "groups", "ignoredGroups", "reviewers"},
	"whom":  {"channel", "webhookUrl", "channelName", "format", "mentionReviewers", "enabled"},
	"quiet": {"quietFrom", "quietTo", "quietTimeZone", "quietDays", "quietUrgent"},
}

// Section is a section of the form: open where something in it is wrong, and for
// a new rule where it cannot do without.
func (f ruleForm) Section(id, title string) console.Section {
	s := console.Section{ID: id, Title: title, Open: f.Wrong(ruleSections[id]...)}
	isNew := f.Stored == nil
	switch id {
	case "when":
		s.Chosen = f.chosenEvents()
		s.Open = s.Open || isNew
	case "where":
		s.Chosen = f.chosenPlaces()
		needed := isNew && !f.At.Cloud() && (f.Level != notify.Global || len(f.Connections) > 1)
		s.Open = s.Open || needed || len(f.TriedMasks) > 0
	case "who":
		s.Chosen = f.chosenPeople()
	case "whom":
		s.Chosen = f.chosenChannel()
		s.Open = s.Open || isNew
	case "quiet":
		s.Chosen = f.chosenQuiet()
	}
	return s
}

func (f ruleForm) chosenEvents() string {
	ticked := f.All("eventTypes")
	var names []string
	all := 0
	for _, g := range f.Events {
		all += len(g.Options)
		for _, o := range g.Options {
			if slices.Contains(ticked, o.Value) {
				names = append(names, o.Label)
			}
		}
	}
	var said string
	switch len(names) {
	case 0:
		said = "no events yet"
	case all:
		said = "all events"
	default:
		said = listed(names)
	}
	if status := f.Get("expectedCommitStatus"); f.At.Cloud() && status != string(notify.StatusBoth) {
		for _, o := range f.Statuses {
			if o.Value == status {
				said += "; builds: " + strings.ToLower(o.Label)
			}
		}
	}
	return said
}

func (f ruleForm) chosenPlaces() string {
	said := sayings{f.place()}
	said.lines("projects", f.Lines("projects"))
	said.lines("repositories", f.Lines("repositories"))
	if len(said) > 1 && said[0] == everyProject {
		said = said[1:]
	}
	before := len(said)
	said.lines("branches", f.Lines("branches"))
	said.text("branches like", f.Get("branchMask"))
	said.text("never branches like", f.Get("ignoredBranchMask"))
	said.text("source branches like", f.Get("sourceBranchMask"))
	said.text("branches with", f.Get("destinationBranchFilter"))
	if len(said) == before {
		said = append(said, "every branch")
	}
	return strings.Join(said, "; ")
}

// everyProject is the place of a global rule whose filters name none.
const everyProject = "every project"

// place is what the rule belongs to.
func (f ruleForm) place() string {
	project, repository := f.Get("projectKey"), f.Get("repositoryKey")
	if f.Stored != nil {
		project, repository = f.Stored.ProjectKey, f.Stored.RepositoryKey
	}
	switch {
	case f.At.Cloud():
		return f.At.Name()
	case project == "":
		return everyProject
	case repository == "":
		return "project " + project
	}
	return project + "/" + repository
}

func (f ruleForm) chosenPeople() string {
	var said sayings
	said.lines("only", f.Lines("users"))
	said.lines("never", f.Lines("ignoredUsers"))
	said.lines("members of", f.Lines("groups"))
	said.lines("never members of", f.Lines("ignoredGroups"))
	said.lines("reviewers", f.Lines("reviewers"))
	if len(said) == 0 {
		return "everyone"
	}
	return strings.Join(said, "; ")
}

func (f ruleForm) chosenChannel() string {
	said := sayings{chosenURL(f.Form, f.Mask)}
	if f.Bool("mentionReviewers") {
		said = append(said, "mentions reviewers")
	}
	if f.Stored != nil && !f.At.Cloud() && !f.Bool("enabled") {
		said = append(said, "disabled")
	}
	return strings.Join(said, "; ")
}

func (f ruleForm) chosenQuiet() string {
	if !hasQuietHours(f.Form) {
		return "none"
	}
	said := f.Get("quietFrom") + " to " + f.Get("quietTo") + " " + f.Get("quietTimeZone")
	if days := len(f.All("quietDays")); days > 0 && days < 7 {
		said += ", on some days"
	}
	return said
}

// chosenURL names the channel of a form; mask is the stored URL's.
func chosenURL(form *console.Form, mask string) string {
	switch name := form.Get("channelName"); {
	case form.Get("channel") != "" && form.Get("webhookUrl") == "":
		return form.Get("channel")
	case name != "":
		return name
	case mask != "":
		return mask
	case form.Get("webhookUrl") == "":
		return "no webhook URL yet"
	}
	return "a new webhook URL"
}

// sayings are what a folded section says.
type sayings []string

func (s *sayings) lines(what string, lines []string) {
	if len(lines) > 0 {
		*s = append(*s, what+" "+listed(lines))
	}
}

func (s *sayings) text(what, text string) {
	if text != "" {
		*s = append(*s, what+" "+text)
	}
}

// maxListed is how many of a list are named, so that a heading stays one.
const maxListed = 3

// listed names the first of a list: "a, b and 3 more".
func listed(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	n := maxListed - 1
	return strings.Join(names[:n], ", ") + " and " + strconv.Itoa(len(names)-n) + " more"
}
