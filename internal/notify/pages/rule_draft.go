package pages

import (
	"strings"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// draftOf makes a draft of a form, and says what is wrong with the form itself.
func draftOf(form *console.Form, stored *notify.RuleInfo, at rulePlace) (r notify.Rule, f fault.Fields) {
	form.Read(&r)
	r.EventTypes, r.QuietHours = typesOf(form, "eventTypes"), quietHoursOf(form, &f)
	r.Choice = aimOf(form, channelOfRule(stored), &r.ChannelName, &r.Format)
	if stored != nil {
		r.ID = stored.ID
		r.Connection, r.ProjectKey, r.RepositoryKey = stored.Connection, stored.ProjectKey, stored.RepositoryKey
	}
	if at.Cloud() {
		r.Connection, r.ProjectKey, r.RepositoryKey, r.Enabled = at.Connection, at.Workspace, at.Repository, true
		r.Filter = notify.Filter{
			EventTypes: r.EventTypes, DestinationBranchFilter: r.DestinationBranchFilter, ExpectedCommitStatus: r.ExpectedCommitStatus,
		}
		r.MentionReviewers = false
		return r, f
	}
	r.DestinationBranchFilter, r.ExpectedCommitStatus = "", ""
	if at.Level != notify.Global && r.ProjectKey == "" {
		f.Add("projectKey", "Enter the project that the rule belongs to.")
	}
	if at.Level == notify.RepositoryLevel && r.RepositoryKey == "" {
		f.Add("repositoryKey", "Enter the repository that the rule belongs to.")
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
