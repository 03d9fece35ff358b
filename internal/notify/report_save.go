package notify

import (
	"outrigger/internal/fault"
	"outrigger/internal/secret"
)

// CheckReportSave judges a save of a report that exists, and fills in the keys
// that the caller left out.
func CheckReportSave(r *Report, old *ReportInfo, webhookURL string) error {
	var f fault.Fields
	CheckReportPlace(&f, r, old)
	if secret.IsMask(webhookURL) && webhookURL != old.Channel.Mask {
		f.Add("webhookUrl", OtherMask)
	}
	return f.Err()
}

func CheckReportPlace(f *fault.Fields, r *Report, old *ReportInfo) {
	checkFixed(f, "report", "connection", &r.Connection, old.Connection)
	checkFixed(f, "report", "projectKey", &r.ProjectKey, old.ProjectKey)
	checkFixed(f, "report", "repositoryKey", &r.RepositoryKey, old.RepositoryKey)
}
