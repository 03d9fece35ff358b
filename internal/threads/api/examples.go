package api

import (
	"time"

	"outrigger/internal/threads"
)

const exampleSite = "https://example.atlassian.net"

var exampleDrafts = threads.Drafts{
	Hierarchy: threads.Draft{ID: 7, SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	Mappings:  threads.Draft{ID: 8, SHA256: "60303ae22b998861bce3b28f33eec1be758a213c86c93c076dbe9f558c11c752"},
}

var exampleStatus = func() threads.MigrationStatus {
	s := threads.StatusOf(&threads.Migration{
		Phase: threads.PhaseProcessing, RecordsDone: 3000, Records: 10000, ChunksDone: 3, Chunks: 10, Issues: 310, ParentMaps: 2988,
		Permanent: 12, Retryable: 3, StartedAt: day, UpdatedAt: day.Add(time.Minute), Message: "The target asked to wait 30 seconds.",
	})
	s.WaitUntil = day.Add(90 * time.Second)
	return s
}()

var examplePreview = threads.Previewed{
	Preview: threads.Preview{
		Records: 3, Issues: 1, Comments: 4, CommentMappings: 3, IssueMappings: 1,
		MissingComments: threads.Missing{Count: 1, First: []int64{10504}}, MissingIssues: threads.Missing{First: []int64{}},
		Errors: map[threads.Reason]int64{threads.NoCommentMapping: 1}, TotalErrors: 1,
		Hierarchy:  threads.HierarchyReading{Records: 3, Pages: 1, PageRecords: 3, HasMore: true, TotalCount: 12},
		Mappings:   threads.MappingReading{Rows: 4, Comments: 3, Issues: 1},
		Partial:    true,
		Incomplete: []string{"3 of 12: this is one page of the export, and not all of it."},
	},
	Drafts: threads.Drafts{
		Hierarchy: threads.Draft{ID: 7, SHA256: exampleDrafts.Hierarchy.SHA256, Filename: "page.json", CreatedBy: "admin", CreatedAt: day},
		Mappings: threads.Draft{
			ID: 8, SHA256: exampleDrafts.Mappings.SHA256, Filename: "ids.csv", CreatedBy: "admin", CreatedAt: day.Add(4 * time.Second),
		},
	},
	Sites: threads.SitesOf(exampleSite, exampleSite),
}

var exampleVerification = threads.Verification{
	State: threads.JobDone, Done: 1, UpdatedAt: day.Add(10 * time.Minute), Comparison: threads.Comparison{
		Issues: 310, Compared: threads.Compared{Relations: 2988, Present: 2987, Missing: 1}, NotCompared: 12,
		First: []threads.Difference{{CloudIssueID: 900001, CommentID: 11782, Expected: 11781}},
	},
}

var exampleRestoration = threads.Restoration{
	State: threads.JobRunning, Mode: threads.RestoreMerge, Upload: 9, Issues: 1000, Done: 250, UpdatedAt: day.Add(10 * time.Minute),
}

// refusedAnswer is what a target said.
var refusedAnswer = threads.Answer{Status: 404, Text: "Issue does not exist or you do not have permission to see it."}
