package source_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/identity/identitytest"
	"outrigger/internal/rest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/api"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/source"
	"outrigger/internal/threads/store"
)

// BenchmarkExport exports 1,000,000 records in pages of 10,000 over HTTP, and
// holds that against selecting the same rows with no JSON and no HTTP:
//
//	go test -run '^$' -bench Export -benchtime 3x ./internal/threads/source
//
// "bare" is the SELECT, "pages" a client that reads the pages and drops them,
// "client" the command's client that writes the file. x-bare is their time as a
// multiple of a bare one right before it, last/first that of the last page to
// the first.
func BenchmarkExport(b *testing.B) {
	const n = 1_000_000
	for name, open := range map[string]func(testing.TB, ...db.Migrations) *db.DB{"sqlite": dbtest.SQLite, "postgres": dbtest.Postgres} {
		b.Run(name, func(b *testing.B) {
			d := open(b)
			if err := d.Migrate(b.Context(), audit.Migrations, store.Migrations); err != nil {
				b.Fatal(err)
			}
			began := time.Now()
			source.MustImport(b, source.NewImports(d), inOrder(n))
			b.Logf("imported %d records in %s", n, time.Since(began).Round(time.Millisecond))
			server := exportServer(b, d)
			b.Run("bare", func(b *testing.B) {
				for b.Loop() {
					bareSelect(b, d, n)
				}
			})
			against := func(b *testing.B, export func() float64) {
				var bare, ours time.Duration
				var ratio float64
				for b.Loop() {
					b.StopTimer()
					bare += took(func() { bareSelect(b, d, n) })
					b.StartTimer()
					ours += took(func() { ratio += export() })
				}
				b.ReportMetric(ours.Seconds()/bare.Seconds(), "x-bare")
				b.ReportMetric(ratio/float64(b.N), "last/first")
			}
			b.Run("pages", func(b *testing.B) {
				against(b, func() float64 { return readPages(b, server.URL, n) })
			})
			b.Run("client", func(b *testing.B) {
				c := &client.Client{Base: server.URL, SignIn: func(r *http.Request) { r.SetBasicAuth("root", "x") }}
				path := filepath.Join(b.TempDir(), "export.json")
				against(b, func() float64 {
					if out, err := c.Export(b.Context(), path, nil); err != nil || out.Records != n {
						b.Fatalf("%+v, %v", out, err)
					}
					return 1
				})
				if info, err := os.Stat(path); err != nil || info.Size() < 50*n {
					b.Fatal("the file is too small")
				}
			})
		})
	}
}

func took(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// inOrder makes records as a host has them: five replies an issue, in the
// order of the export.
func inOrder(n int) []threads.Record {
	records := make([]threads.Record, n)
	for i := range records {
		comment := int64(10_000 + 2*i)
		records[i] = source.Rec(int64(10_000+i/5), comment, comment-1)
	}
	return records
}

func bareSelect(b *testing.B, d *db.DB, want int) {
	n, sum := 0, int64(0)
	err := d.Read(b.Context(), func(tx *db.Tx) error {
		rows, err := tx.Query(b.Context(), `SELECT issue_id, comment_id, parent_comment_id FROM threads_source_records ORDER BY issue_id, comment_id`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var r threads.Record
			if err := rows.Scan(&r.IssueID, &r.CommentID, &r.ParentCommentID); err != nil {
				return err
			}
			n++
			sum += r.IssueID ^ r.CommentID ^ r.ParentCommentID
		}
		return rows.Err()
	})
	if err != nil || n != want || sum == 0 {
		b.Fatalf("%d rows, %v", n, err)
	}
}

func exportServer(b *testing.B, d *db.DB) *httptest.Server {
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { server.Config.Handler.ServeHTTP(w, r) }))
	b.Cleanup(server.Close)
	router, err := rest.NewRouter(rest.Options{Identity: identitytest.Everybody(), Log: slog.New(slog.DiscardHandler), BaseURL: server.URL})
	if err != nil {
		b.Fatal(err)
	}
	im := source.NewImports(d)
	(&api.Source{Store: im.Store, Imports: im, Metrics: source.NewMetrics(nil)}).Register(router)
	server.Config.Handler = router
	return server
}

// readPages reads every page, and says how long the last took as a multiple of
// the first.
func readPages(b *testing.B, base string, n int) float64 {
	var first, last time.Duration
	for offset := 0; offset < n; offset += 10_000 {
		last = took(func() {
			r, err := http.NewRequestWithContext(b.Context(), "GET", fmt.Sprintf("%s%s?offset=%d&limit=10000", base, exportPath, offset), nil)
			if err != nil {
				b.Fatal(err)
			}
			r.SetBasicAuth("root", "x")
			resp, err := http.DefaultClient.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			defer resp.Body.Close()
			size, err := io.Copy(io.Discard, resp.Body)
			if err != nil || resp.StatusCode != 200 || size < 500_000 {
				b.Fatalf("%d, %d bytes, %v", resp.StatusCode, size, err)
			}
		})
		if offset == 0 {
			first = last
		}
	}
	return last.Seconds() / first.Seconds()
}
