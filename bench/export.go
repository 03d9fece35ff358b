package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"outrigger/internal/loadtest"
	"outrigger/internal/threads"
)

const (
	// exportPage is the largest page that the endpoint gives.
	exportPage = 10_000
	// exportRuns are how many whole exports are taken, in turn with bare ones.
	exportRuns = 3
	// pageRuns are how many times the first and the last page are asked for;
	// the medians count.
	pageRuns = 15
)

// export measures the export of 1,000,000 records in pages of 10,000 against
// selecting the same rows with no JSON and no HTTP, and twice as many to show
// how time and memory grow.
func (b *bench) export(ctx context.Context) error {
	for _, n := range []int{1_000_000, 2_000_000} {
		if err := b.exportOf(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) exportOf(ctx context.Context, n int) error {
	p, err := b.node(ctx, loadtest.Settings{})
	if err != nil {
		return err
	}
	if err := b.importHierarchy(ctx, p, int64(n)); err != nil {
		return err
	}
	rows, err := sql.Open("sqlite", filepath.Join(p.Settings.Dir, "outrigger.db")+"?mode=ro")
	if err != nil {
		return err
	}
	defer rows.Close()
	var bare, ours time.Duration
	for range exportRuns {
		took, err := bareExport(ctx, rows, n)
		if err != nil {
			return err
		}
		bare += took
		began := time.Now()
		for offset := 0; offset < n; offset += exportPage {
			if _, err := exportPageAt(ctx, p, offset); err != nil {
				return err
			}
		}
		ours += time.Since(began)
	}
	var first, last []time.Duration
	for range pageRuns {
		for offset, list := range map[int]*[]time.Duration{0: &first, n - exportPage: &last} {
			took, err := exportPageAt(ctx, p, offset)
			if err != nil {
				return err
			}
			*list = append(*list, took)
		}
	}
	slices.Sort(first)
	slices.Sort(last)
	memory, err := loadtest.PeakResident(p.PID())
	if err != nil {
		return err
	}
	name := fmt.Sprintf("export of %d records", n)
	b.row(name, fmt.Sprintf("%.2f s (selecting them %.2f s)", ours.Seconds()/exportRuns, bare.Seconds()/exportRuns), "")
	b.row(name+": times selecting them", fmt.Sprintf("%.2f", ours.Seconds()/bare.Seconds()), "under 2")
	b.row(name+": last page against the first", fmt.Sprintf("%s against %s", millis(last[pageRuns/2]), millis(first[pageRuns/2])),
		"not slower")
	b.row(name+": most resident memory, import included", mib(memory), "")
	return nil
}

// importHierarchy has a node take n records in.
func (b *bench) importHierarchy(ctx context.Context, p *loadtest.Process, n int64) error {
	files, err := b.migrationFiles(n)
	if err != nil {
		return err
	}
	for _, name := range files {
		defer os.Remove(name)
	}
	f, err := os.Open(files[threads.HierarchyFile])
	if err != nil {
		return err
	}
	defer f.Close()
	if out, err := p.Threads().ImportHierarchy(ctx, f, nil); err != nil || out.Added != n {
		return fmt.Errorf("import: %d of %d records: %w", out.Added, n, err)
	}
	return nil
}

// bareExport selects the records of a node and looks at each.
func bareExport(ctx context.Context, d *sql.DB, want int) (time.Duration, error) {
	began := time.Now()
	rows, err := d.QueryContext(ctx, `SELECT issue_id, comment_id, parent_comment_id FROM threads_source_records
		ORDER BY issue_id, comment_id`)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var r threads.Record
		if err := rows.Scan(&r.IssueID, &r.CommentID, &r.ParentCommentID); err != nil {
			return 0, err
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	if n != want {
		return 0, fmt.Errorf("%d records are there, not %d", n, want)
	}
	return time.Since(began), nil
}

// exportPageAt asks for a page, as it is, and reads it to its end: compressing it is a
// service to slow lines, not a part of the export.
func exportPageAt(ctx context.Context, p *loadtest.Process, offset int) (time.Duration, error) {
	began := time.Now()
	url := fmt.Sprintf("http://%s/rest/threaded-comments/1.0/migration/export-data?offset=%d&limit=%d", p.Addr(), offset, exportPage)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, err
	}
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	size, err := io.Copy(io.Discard, resp.Body)
	if err == nil && (resp.StatusCode != http.StatusOK || size < 50*exportPage) {
		err = fmt.Errorf("the page at %d: %s, %d bytes", offset, resp.Status, size)
	}
	return time.Since(began), err
}
