package sample

import (
	"fmt"
	"time"

	"outrigger/internal/notify"
)

const repositoryURL = "https://git.example.com/projects/ATL/repos/engine"

var (
	at    = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	ada   = notify.User{Name: "ada", DisplayName: "Ada Lovelace", Email: "ada@example.com"}
	grace = notify.User{Name: "grace", DisplayName: "Grace Hopper", Email: "grace@example.com"}
	alan  = notify.User{Name: "alan_t", DisplayName: "Alan Turing", Email: "alan@example.com"}
)

// Report is what an activity report says that finds so many inactive pull requests
// among the open ones, with all that a platform can know of each.
func Report(open, inactive int) notify.Event {
	a := &notify.Activity{Report: 7, Name: "Stale *pull requests* & <friends>", InactivityDays: 7, Open: open, Inactive: inactive,
		SkipsDrafts: true, Drafts: 2, TargetMask: `main|release/\d+`}
	for i := range min(inactive, 20) {
		id := int64(100 + i)
		p := notify.IdlePullRequest{
			ID: id, Title: fmt.Sprintf("Carry over [all] <wheels> & levers, part %d", i+1), Author: ada, Target: "release/2_1",
			URL: fmt.Sprintf("%s/pull-requests/%d", repositoryURL, id), IdleDays: 40 - i,
		}
		if i%2 == 0 {
			p.WaitsFor = []notify.User{grace, alan}
		}
		a.Oldest = append(a.Oldest, p)
	}
	return notify.Event{
		Key: notify.ReportKey, Connection: "git", At: at, URL: repositoryURL + "/pull-requests", Report: a,
		Project: notify.Project{Key: "ATL"}, Repository: notify.Repository{Key: "engine"},
	}
}

// BareReport is Report of a pull request of which the platform says nothing.
func BareReport() notify.Event {
	e := Report(1, 0)
	e.URL = ""
	e.Report = &notify.Activity{InactivityDays: 1, Open: 1, Inactive: 1, Oldest: []notify.IdlePullRequest{{ID: 12, IdleDays: 1}}}
	return e
}
