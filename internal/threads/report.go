package threads

import "time"

// ReportState is how far a report is.
type ReportState string

// The states of a report.
const (
	ReportMaking ReportState = "making"
	ReportReady  ReportState = "ready"
	ReportFailed ReportState = "failed"
)

// Report is a site's mappings as of a version, as CSV.
type Report struct {
	ID        int64
	Site      Site // without its kinds
	State     ReportState
	Failure   string // why it failed, a sentence
	Refused   bool   // it failed, and the remote source said that the request is wrong
	Size      int64  // in bytes
	Mappings  int64
	ChangedAt time.Time

	Version    int64 // of the site's mappings
	Invalidate bool  // the client wants nothing from a cache
}

// Current reports whether the report has the mappings that the site has now.
func (r Report) Current(s Site) bool { return r.Version == s.Version }

// ReportFailureKept is how long a report that failed is answered with its failure: a
// client that polls sees it, and one that comes later has it tried again.
const ReportFailureKept = time.Minute
