package source_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// wordy is an entity type of 200 bytes: few rows fill many chunks.
var wordy = "jira/classic:" + strings.Repeat("custom", 31) + "F"

// manyMappings is a mappings file with n entities, and the report of it.
func manyMappings(n int) string {
	var b strings.Builder
	b.WriteString("entityType,serverId,cloudId\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,%d,%d\n", wordy, 10_000_000+i, 7*i+1)
	}
	return b.String()
}

// A report of many chunks is the file that came in; what a node that died has
// left of one does no harm; of old ones all but one are removed; any part of it
// can be read.
func TestReportOfManyChunks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServer(t, d, "a", nil)
		file := manyMappings(3500)
		if _, err := s.imports.Mappings(t.Context(), "https://x.example", strings.NewReader(file)); err != nil {
			t.Fatal(err)
		}
		const path = reportPath + "?cloudSiteUrl=https://x.example"
		for range 4 {
			s.get(202, path+"&invalidateCache=true")
			orders, err := s.store.Making(t.Context())
			if err != nil || len(orders) != 1 {
				t.Fatalf("%v, %v", orders, err)
			}
			lease := source.AcquireLease(t, s.reports.Leases(), "dead")
			for i := range int64(30) {
				if err := s.store.PutReportChunk(t.Context(), lease, orders[0].ID, i, []byte("left behind")); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.reports.Leases().Release(t.Context(), lease); err != nil {
				t.Fatal(err)
			}
			if _, err := s.reports.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.reports.Wait()
		}
		if got := s.get(200, path); got != file {
			t.Errorf("%d bytes instead of %d", len(got), len(file))
		}
		if n := count(t, d, `SELECT count(*) FROM threads_source_reports`); n != 2 {
			t.Errorf("%d reports are kept", n)
		}
		if n := count(t, d, `SELECT count(DISTINCT report_id) FROM threads_source_chunks`); n != 2 {
			t.Errorf("parts of %d reports are kept", n)
		}
		from := len(file) - 300_000 // in another chunk than the end
		w := s.ask("GET", path, "root", "", "Range", fmt.Sprintf("bytes=%d-", from))
		if w.Code != 206 || w.Body.String() != file[from:] {
			t.Errorf("a part: %d, %d bytes", w.Code, w.Body.Len())
		}
		if w := s.ask("HEAD", path, "root", ""); w.Code != 200 || w.Header().Get("Content-Length") != fmt.Sprint(len(file)) {
			t.Errorf("HEAD: %d %v", w.Code, w.Header())
		}
	}, audit.Migrations, store.Migrations)
}

// A report that is replaced twice while it is read ends with an error, and not
// with another report's text.
func TestReportReplacedWhileItIsRead(t *testing.T) {
	d := dbtest.SQLite(t, audit.Migrations, store.Migrations)
	if err := d.Migrate(t.Context(), audit.Migrations, store.Migrations); err != nil {
		t.Fatal(err)
	}
	s := newServer(t, d, "a", nil)
	if _, err := s.imports.Mappings(t.Context(), "https://x.example", strings.NewReader(manyMappings(3500))); err != nil {
		t.Fatal(err)
	}
	remake := func() threads.Report {
		if _, _, err := s.store.Ask(t.Context(), "https://x.example", true, false); err != nil {
			t.Fatal(err)
		}
		if _, err := s.reports.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.reports.Wait()
		r, _, err := s.store.Ask(t.Context(), "https://x.example", false, false)
		if err != nil || r.State != threads.ReportReady {
			t.Fatalf("%+v, %v", r, err)
		}
		return r
	}
	text := s.store.Text(t.Context(), remake())
	if _, err := io.CopyN(io.Discard, text, 1000); err != nil {
		t.Fatal(err)
	}
	remake()
	remake()
	if n, err := io.Copy(io.Discard, text); err == nil || n > store.ReportChunk {
		t.Errorf("%d bytes more, %v", n, err)
	}
}

// Mappings that change while their report is made are in it.
func TestReportWhileMappingsChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newServer(t, d, "a", nil)
		const site = "https://x.example"
		file := manyMappings(6000)
		half := strings.Index(file, wordy+",10003000,")
		if _, err := s.imports.Mappings(t.Context(), site, strings.NewReader(file[:half])); err != nil {
			t.Fatal(err)
		}
		s.get(202, reportPath+"?cloudSiteUrl="+site)
		done := make(chan error)
		go func() {
			_, err := s.imports.Mappings(t.Context(), site, strings.NewReader(file[:28]+file[half:]))
			done <- err
		}()
		if _, err := s.reports.RunOnce(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.reports.Wait()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		for s.ask("GET", reportPath+"?cloudSiteUrl="+site, "root", "").Code == 202 {
			if _, err := s.reports.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.reports.Wait()
		}
		if got := s.get(200, reportPath+"?cloudSiteUrl="+site); got != file {
			t.Errorf("%d bytes instead of %d", len(got), len(file))
		}
	}, audit.Migrations, store.Migrations)
}

func count(t *testing.T, d *db.DB, query string) (n int) {
	t.Helper()
	if err := d.Read(t.Context(), func(tx *db.Tx) error { return tx.QueryRow(t.Context(), query).Scan(&n) }); err != nil {
		t.Fatal(err)
	}
	return n
}
