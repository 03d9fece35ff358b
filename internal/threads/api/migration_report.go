package api

import (
	"bytes"
	"net/http"

	"outrigger/internal/fault"
	"outrigger/internal/rest"
	"outrigger/internal/threads/report"
)

// reportPolicy lets a report show itself and nothing else: what it quotes comes
// from files and from the target.
const reportPolicy = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// reportingMigration asks for the report.
type reportingMigration struct {
	Format string `query:"format" default:"html" enum:"html,csv" doc:"A page to print, or a table."`
}

func (a *Admin) registerMigrationReport(r *rest.Router) {
	rest.Serve[reportingMigration, string](r, rest.Route{Method: "GET", Path: migrationReportPath, Access: rest.SysAdmins, Own: true},
		rest.Words{
			ID: "reportMigration", Tag: tag, Summary: "Returns the report of the migration, to print or as CSV.",
			Media:  []string{"text/html", "text/csv"},
			Answer: "The report.",
			Text: "Needs `SYS_ADMIN`. Start, end and rate; the files with their SHA-256 and what is wrong with them; the permanent errors " +
				"by reason and by what the target said; what the last comparison found; who did what. A reset ends it with the data. With " +
				"`format=csv` it is `text/csv`.",
			Refused: []int{http.StatusConflict}, RefusedFor: map[int]string{http.StatusConflict: "Nothing is loaded."},
		}, a.migrationReport,
		rest.Example[reportingMigration, string]{Name: "fresh", Err: fault.New(fault.Conflict,
			"Nothing is loaded that could be reported on. Load a hierarchy file and an id mappings file first.")})
}

// migrationReport answers the report of the migration, as a page or as CSV.
func (a *Admin) migrationReport(w http.ResponseWriter, r *http.Request, in reportingMigration) error {
	write, mediaType := report.HTML, "text/html; charset=utf-8"
	switch in.Format {
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
