package pages

import (
	"context"

	"outrigger/internal/console"
)

// failingReports says of each report whose last run brought no message why, in
// the platform's words, and leads to its page.
func (p *Pages) failingReports(ctx context.Context) ([]console.Notice, error) {
	failing, err := p.Reports.Failing(ctx)
	if err != nil {
		return nil, err
	}
	var notices []console.Notice
	for i := range failing {
		r := &failing[i]
		notices = append(notices, console.Notice{
			Text: "The activity report “" + r.Name + "” of " + r.ProjectKey + "/" + r.RepositoryKey + " was not sent. " + r.LastError,
			Key:  reportPath(r), Link: reportPath(r), Tone: console.Bad, Since: r.LastErrorAt,
			Remedy: console.Remedy{Label: "Send it now", Path: reportPath(r) + "/test", Posts: []console.Hidden{}},
		})
	}
	return notices, nil
}
