package pages

import (
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// draftOf makes a draft of a form, and says what is wrong with the form itself.
func draftOf(form *console.Form, stored *notify.RuleInfo, at rulePlace) (r notify.Rule, f fault.Fields) {
	if at.Cloud() {
		return cloudDraftOf(form, stored, at)
	}
	r = notify.Rule{
		Name: form.Get("name"), Connection: form.Get("connection"),
		ProjectKey: form.Get("projectKey"), RepositoryKey: form.Get("repositoryKey"),
		ChannelName: form.Get("channelName"), Format: notify.Format(form.Get("format")), Enabled: form.Bool("enabled"),
	}
	form.Read(&r.Filter)
	form.Read(&r.Options)
	r.DestinationBranchFilter, r.ExpectedCommitStatus = "", "" // which are of the cloud edition
	r.EventTypes, r.QuietHours = typesOf(form, "eventTypes"), quietHoursOf(form, &f)
	r.Choice = aimOf(form, channelOfRule(stored), &r.ChannelName, &r.Format)
	if stored != nil {
		r.ID, r.Version = stored.ID, form.Int("version")
		r.Connection, r.ProjectKey, r.RepositoryKey = stored.Connection, stored.ProjectKey, stored.RepositoryKey
	} else {
		if at.Level != notify.Global && r.ProjectKey == "" {
			f.Add("projectKey", "Enter the project that the rule belongs to.")
		}
		if at.Level == notify.RepositoryLevel && r.RepositoryKey == "" {
			f.Add("repositoryKey", "Enter the repository that the rule belongs to.")
		}
	}
	for _, line := range form.Lines("repositories") {
		project, repository, ok := strings.Cut(line, "/")
		if !ok {
			f.Add("repositories", "Write every repository as PROJECT/repository, not %q.", line)
			break
		}
		r.Repositories = append(r.Repositories, notify.RepositoryRef{ProjectKey: strings.TrimSpace(project),
			RepositoryKey: strings.TrimSpace(repository)})
	}
	return r, f
}

// cloudDraftOf makes a draft of the form of a rule of the cloud edition.
func cloudDraftOf(form *console.Form, stored *notify.RuleInfo, at rulePlace) (r notify.Rule, f fault.Fields) {
	r = notify.Rule{
		Name: form.Get("name"), Connection: at.Connection, ProjectKey: at.Workspace, RepositoryKey: at.Repository,
		ChannelName: form.Get("channelName"), Format: notify.Format(form.Get("format")), Enabled: true,
		Options: notify.Options{QuietHours: quietHoursOf(form, &f)},
		Filter: notify.Filter{
			EventTypes: typesOf(form, "eventTypes"), DestinationBranchFilter: form.Raw("destinationBranchFilter"),
			ExpectedCommitStatus: notify.CommitStatus(form.Get("expectedCommitStatus")),
		},
	}
	r.Choice = aimOf(form, channelOfRule(stored), &r.ChannelName, &r.Format)
	if stored != nil {
		r.ID, r.Version = stored.ID, form.Int("version")
	}
	return r, f
}
