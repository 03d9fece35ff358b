package threads

import "context"

// IssueName is what people call an issue.
type IssueName struct {
	Key     string // such as ABC-12
	Project string // the key of its project
}

// MaxNames is how many issues a Namer is asked about at once.
const MaxNames = 100

// Namer is a Target that knows what people call its issues.
type Namer interface {
	// Names returns the names of up to MaxNames issues by their ids; those that the
	// target does not show are missing. Its errors are those of a Target.
	Names(ctx context.Context, cloudIssueIDs []int64) (map[int64]IssueName, error)
}

// ProjectCount is what there is of a project in a data set.
type ProjectCount struct {
	Issues      int64 `json:"issues" doc:"Issues of the project that the records are in."`
	Records     int64 `json:"records" doc:"Distinct records."`
	NotMigrated int64 `json:"notMigrated" doc:"Records that are permanent errors."`
}

// ProjectCounts are counts by the key of the project; "" is for issues whose
// project is not known, and for those beyond maxProjects.
type ProjectCounts map[string]ProjectCount

// maxProjects is how many projects are counted one by one: the counts are stored
// with every step of a comparison.
const maxProjects = 1000

// Add counts an issue.
func (c ProjectCounts) Add(i IssueEntries, project string) {
	if _, known := c[project]; !known && len(c) > maxProjects {
		project = ""
	}
	n := c[project]
	n.Issues++
	n.Records += int64(len(i.Entries))
	for _, e := range i.Entries {
		if e.Reason != "" {
			n.NotMigrated++
		}
	}
	c[project] = n
}
