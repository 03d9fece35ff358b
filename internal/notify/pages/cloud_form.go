package pages

import (
	"net/http"

	"outrigger/internal/console"
	"outrigger/internal/fault"
	"outrigger/internal/notify"
)

// commitStatuses are the choices of which builds are notified.
var commitStatuses = []console.Option{
	{Value: string(notify.StatusBoth), Label: "Success and failure"},
	{Value: string(notify.StatusSuccess), Label: "Success only"},
	{Value: string(notify.StatusFailure), Label: "Failure only (failed or stopped)"},
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

// withoutAccount is the form of a rule that cannot be saved before an account is
// authorised, and why.
func withoutAccount(page console.Page, why string) console.Page {
	page.Data.(*ruleForm).Authorize = why
	page.Status = http.StatusForbidden
	return page
}
