package main

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
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
func (b *bench) export(ctx context.Context) {
	for _, n := range []int{1_000_000, 2_000_000} {
		b.exportOf(ctx, n)
	}
}

func (b *bench) exportOf(ctx context.Context, n int) {
	p := b.node(ctx, loadtest.Settings{})
	b.importHierarchy(ctx, p, int64(n))
	rows := must(sql.Open("sqlite", filepath.Join(p.Settings.Dir, "outrigger.db")+"?mode=ro"))
	defer rows.Close()
	var bare, ours time.Duration
	for range exportRuns {
		bare += bareExport(ctx, rows, n)
		began := time.Now()
		for offset := 0; offset < n; offset += exportPage {
			exportPageAt(ctx, p, offset)
		}
		ours += time.Since(began)
	}
	var first, last []time.Duration
	for range pageRuns {
		first = append(first, exportPageAt(ctx, p, 0))
		last = append(last, exportPageAt(ctx, p, n-exportPage))
	}
	name := fmt.Sprintf("export of %d records", n)
	b.row(name, fmt.Sprintf("%.2f s (selecting them %.2f s)", ours.Seconds()/exportRuns, bare.Seconds()/exportRuns), "")
	b.row(name+": times selecting them", fmt.Sprintf("%.2f", ours.Seconds()/bare.Seconds()), "under 2")
	b.row(name+": last page against the first", fmt.Sprintf("%s against %s", millis(median(last)), millis(median(first))), "not slower")
	b.row(name+": most resident memory, import included", mib(must(loadtest.PeakResident(p.PID()))), "")
}

// importHierarchy has a node take n records in.
func (b *bench) importHierarchy(ctx context.Context, p *loadtest.Process, n int64) {
	hierarchy, _ := b.migrationFiles(n)
	f := must(os.Open(hierarchy))
	defer f.Close()
	if out := must(p.Threads().ImportHierarchy(ctx, f, nil)); out.Added != n {
		check(fmt.Errorf("import: %d of %d records", out.Added, n))
	}
}

// bareExport selects the records of a node and looks at each.
func bareExport(ctx context.Context, d *sql.DB, want int) time.Duration {
	began := time.Now()
	rows := must(d.QueryContext(ctx, `SELECT issue_id, comment_id, parent_comment_id FROM threads_source_records
		ORDER BY issue_id, comment_id`))
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var r threads.Record
		check(rows.Scan(&r.IssueID, &r.CommentID, &r.ParentCommentID))
	}
	check(rows.Err())
	if n != want {
		check(fmt.Errorf("%d records are there, not %d", n, want))
	}
	return time.Since(began)
}

// exportPageAt asks for a page, as it is, and reads it to its end: compressing it is a
// service to slow lines, not a part of the export.
func exportPageAt(ctx context.Context, p *loadtest.Process, offset int) time.Duration {
	began := time.Now()
	url := fmt.Sprintf("http://%s/rest/threaded-comments/1.0/migration/export-data?offset=%d&limit=%d", p.Addr(), offset, exportPage)
	r := must(http.NewRequestWithContext(ctx, http.MethodGet, url, nil))
	r.SetBasicAuth("admin", loadtest.AdminPassword)
	r.Header.Set("Accept-Encoding", "identity")
	resp := must(http.DefaultClient.Do(r))
	defer resp.Body.Close()
	size := must(io.Copy(io.Discard, resp.Body))
	if resp.StatusCode != http.StatusOK || size < 50*exportPage {
		check(fmt.Errorf("the page at %d: %s, %d bytes", offset, resp.Status, size))
	}
	return time.Since(began)
}
