package threads

import "outrigger/internal/fault"

// Sites are the cloud site that an id mappings report is for and the target that its
// ids are used on: on another site they mean other issues and comments.
type Sites struct {
	Report string `json:"report,omitempty"` // as SiteURL writes it; "" where nobody said it
	Target string `json:"target"`           // EmbeddedTarget, or a URL
	Differ bool   `json:"differ"`
	Text   string `json:"text"` // both in words, and what is checked
}

// SitesOf compares the site of a report, which may be "", with the target.
func SitesOf(report, target string) Sites {
	s := Sites{Report: report, Target: target}
	if target == EmbeddedTarget {
		s.Text = "The target is Outrigger's own database, which knows no issues and no comments: neither are checked."
		if report != "" {
			s.Text = "The id mappings report is for " + report + ". " + s.Text
		}
		return s
	}
	const checked = " Issues are checked on the target; comments are not."
	site, ok := SiteURL(target)
	switch {
	case report == "":
		s.Text = "The target is " + target + ". Which site the id mappings report is for is not known." + checked
	case ok && site == report:
		s.Text = "The id mappings report is for " + report + ", which is the target." + checked
	default:
		s.Differ = true
		s.Text = "The id mappings report is for " + report + ", but the target is " + target +
			", where its ids may mean other issues and comments." + checked
	}
	return s
}

// ErrDiffer refuses a report of another site.
func (s Sites) ErrDiffer() *fault.Error {
	return fault.New(fault.Conflict, "%s Send the report for the target, or load this one with acceptOtherSite=true.", s.Text)
}
