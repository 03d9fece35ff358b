package pages

import (
	"context"

	"outrigger/internal/console"
)

// failingReports says of each report whose last run brought no message, or one
// that the chat refused, why, in the words of who failed it, and leads to its page.
func (p *Pages) failingReports(ctx context.Context) ([]console.Notice, error) {
	failing, err := p.Reports.Failing(ctx)
	if err != nil {
		return nil, err
	}
	var notices []console.Notice
	for i := range failing {
		r := &failing[i]
		why, since := r.LastFailure()
		remedy, what := console.Remedy{Label: "Send it now", Of: r.Name, Path: reportPath(r) + "/test", Posts: []console.Hidden{}}, "sent"
		if r.LastError == "" {
			remedy.Label, remedy.Path, what = "Send again", deliveriesPath+"/"+idText(r.LastDelivery.ID)+"/redeliver", "delivered"
		}
		notices = append(notices, console.Notice{
			Text: "The activity report “" + r.Name + "” of " + r.ProjectKey + "/" + r.RepositoryKey + " was not " + what + ". " + why,
			Kind: "report", Key: reportPath(r), Link: reportPath(r), Tone: console.Bad, Since: since, Remedy: remedy,
		})
	}
	return notices, nil
}
