package store

import (
	"context"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

const reportColumns = `r.id, r.state, r.failure, r.refused, r.size, r.mappings, r.changed_at, r.version, r.invalidate,
	s.id, s.url, s.version`

func scanReport(row db.Row) (r threads.Report, err error) {
	err = row.Scan(&r.ID, &r.State, &r.Failure, &r.Refused, &r.Size, &r.Mappings, db.At(&r.ChangedAt), &r.Version, &r.Invalidate,
		&r.Site.ID, &r.Site.URL, &r.Site.Version)
	return r, err
}

// Ask returns the report of a site, and orders one where there is none that
// holds: then it is threads.ReportMaking. invalidate orders one in any case, but joins one
// that is being made. Without mappings of the site it is NotFound, unless
// remote says that they come from elsewhere.
func (s *Source) Ask(ctx context.Context, siteURL string, invalidate, remote bool) (report threads.Report, ordered bool, err error) {
	var holds bool
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		report, holds, err = present(ctx, tx, siteURL, invalidate, remote)
		return err
	})
	if err != nil || holds {
		return report, false, err
	}
	err = s.db.Write(ctx, func(tx *db.Tx) error {
		if remote {
			if err := addSite(ctx, tx, siteURL); err != nil {
				return err
			}
		}
		site, err := readSite(ctx, tx, siteURL, tx.ForUpdate())
		if err != nil {
			return err
		}
		n, err := tx.Changed(ctx, "ordering a report", `INSERT INTO threads_source_reports
			(site_id, version, state, invalidate, failure, refused, size, mappings, changed_at)
			VALUES ($1, $2, 'making', $3, '', 0, 0, 0, $4) ON CONFLICT (site_id) WHERE state = 'making' DO NOTHING`,
			site.ID, site.Version, db.Bit(invalidate), db.Micros(tx.Now()))
		report, ordered = threads.Report{Site: site, State: threads.ReportMaking}, n > 0
		return err
	})
	return report, ordered, err
}

// present returns the newest report of a site, and whether it is the answer.
func present(ctx context.Context, tx *db.Tx, siteURL string, invalidate, remote bool) (report threads.Report, holds bool, err error) {
	site, err := readSite(ctx, tx, siteURL, "")
	switch {
	case remote && fault.Is(err, fault.NotFound):
		return report, false, nil
	case err != nil:
		return report, false, err
	case !remote:
		if err := hasMappings(ctx, tx, site); err != nil {
			return report, false, err
		}
	}
	newest, err := db.List(ctx, tx, "report", scanReport, `SELECT `+reportColumns+` FROM threads_source_reports r
		JOIN threads_source_sites s ON s.id = r.site_id WHERE r.site_id = $1 ORDER BY r.id DESC LIMIT 1`, site.ID)
	if err != nil || len(newest) == 0 {
		return report, false, err
	}
	switch report = newest[0]; report.State {
	case threads.ReportReady:
		holds = !invalidate && report.Version == site.Version
	case threads.ReportFailed:
		holds = !invalidate && tx.Now().Sub(report.ChangedAt) < threads.ReportFailureKept
	default:
		holds = true
	}
	return report, holds, nil
}

// hasMappings is NotFound for a site whose mappings were never imported here.
func hasMappings(ctx context.Context, tx *db.Tx, site threads.Site) error {
	kinds, err := readKinds(ctx, tx, site.ID)
	if err != nil {
		return err
	}
	for _, k := range kinds {
		if k.Mappings > 0 {
			return nil
		}
	}
	return fault.New(fault.NotFound, "There are no mappings for %s.", site.URL)
}

// Making lists the reports that are to be made.
func (s *Source) Making(ctx context.Context) ([]threads.Report, error) {
	return db.ReadList(ctx, s.db, "reports to make", scanReport, `SELECT `+reportColumns+` FROM threads_source_reports r
		JOIN threads_source_sites s ON s.id = r.site_id WHERE r.state = 'making' ORDER BY r.id`)
}

// Reports returns the newest report of each site that has one.
func (s *Source) Reports(ctx context.Context) (bySite map[int64]threads.Report, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		bySite = map[int64]threads.Report{}
		return tx.EachRow(ctx, "reports", func(row db.Row) error {
			r, err := scanReport(row)
			bySite[r.Site.ID] = r
			return err
		}, `SELECT `+reportColumns+` FROM threads_source_reports r JOIN threads_source_sites s ON s.id = r.site_id ORDER BY r.id`)
	})
	return bySite, err
}

// FinishReport ends the making of a report, under the lease. NotFound: the report
// went meanwhile, with its site.
func (s *Source) FinishReport(ctx context.Context, lease *db.Lease, r threads.Report) error {
	return s.db.Write(ctx, lease.Held(ctx, func(tx *db.Tx) error {
		return tx.ChangeOne(ctx, "finishing a report", fault.New(fault.NotFound, "The report was removed while it was made."),
			`UPDATE threads_source_reports SET state = $2, failure = $3, refused = $4, size = $5, mappings = $6, version = $7, changed_at = $8
			WHERE id = $1 AND state = 'making'`,
			r.ID, r.State, r.Failure, db.Bit(r.Refused), r.Size, r.Mappings, r.Version, db.Micros(tx.Now()))
	}))
}

// dropReports removes some of a site's reports below an id; done when none is
// left.
func dropReports(ctx context.Context, tx *db.Tx, site, below int64) (done bool, err error) {
	var id int64
	found, err := tx.Find(ctx, "old reports", []any{&id},
		`SELECT id FROM threads_source_reports WHERE site_id = $1 AND id < $2 ORDER BY id LIMIT 1`+tx.ForUpdate(), site, below)
	if err != nil || !found {
		return !found && err == nil, err
	}
	n, err := dropChunks(ctx, tx, id)
	if err == nil && n < dropChunkCount {
		err = tx.Do(ctx, "dropping old reports", `DELETE FROM threads_source_reports WHERE id = $1`, id)
	}
	return false, err
}
