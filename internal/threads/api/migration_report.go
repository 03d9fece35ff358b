package api

import (
	"bytes"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/threads/report"
)

// reportPolicy lets a report show itself and nothing else: what it quotes comes
// from files and from the target.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// migrationReport answers the report of the migration, as a page or as CSV.
func (a *Admin) migrationReport(w http.ResponseWriter, r *http.Request) error {
	write, mediaType := report.HTML, "text/html; charset=utf-8"
	switch format := r.URL.Query().Get("format"); format {
	case "", "html":
	case "csv":
		write, mediaType = report.CSV, "text/csv; charset=utf-8"
	default:
		return fault.InvalidField("format", "Use html or csv.")
	}
	data, err := a.Report(r.Context())
	if err != nil {
		return err
	}
	var out bytes.Buffer // some hundred lines
	if err := write(&out, data); err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", mediaType)
	h.Set("Content-Security-Policy", reportPolicy)
	if mediaType != "text/html; charset=utf-8" {
		h.Set("Content-Disposition", `attachment; filename="threaded-comments-report.csv"`)
	}
	_, _ = w.Write(out.Bytes()) // who asked may be gone
	return nil
}
