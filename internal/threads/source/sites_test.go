package source_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/db"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads/store"
)

// Ten sites, the mappings of each imported by two nodes at once in two parts that
// overlap, and twice: each site's report is its own, whichever node makes it and
// whichever answers.
func TestTenSitesOnTwoNodes(t *testing.T) {
	const sites, rows = 10, 60
	url := func(k int) string { return fmt.Sprintf("https://site-%d.example", k) }
	file := func(k, from, to int) string {
		var b strings.Builder
		b.WriteString("entityType,serverId,cloudId\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&b, "jira:comment,%d,%d\n", 1000+i, 100*i+k)
		}
		return b.String()
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		nodes := []*server{newServer(t, d, "a", nil), newServer(t, d, "b", nil)}
		for round := range 2 {
			done := make(chan error)
			for n, s := range nodes {
				go func() {
					var failed error
					for k := range sites {
						part := file(k, 20*n, 20*n+rows-20)
						if _, err := s.imports.Mappings(context.WithoutCancel(t.Context()), url(k), strings.NewReader(part)); err != nil {
							failed = fmt.Errorf("node %d, site %d: %w", n, k, err)
						}
					}
					done <- failed
				}()
			}
			for range nodes {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			for k := range sites {
				nodes[k%2].get(202, reportPath+"?invalidateCache=true&cloudSiteUrl="+url(k))
			}
			made := make(chan error)
			for _, s := range nodes {
				go func() {
					_, err := s.reports.RunOnce(context.WithoutCancel(t.Context()))
					s.reports.Wait()
					made <- err
				}()
			}
			for range nodes {
				if err := <-made; err != nil {
					t.Error(err)
				}
			}
			for _, s := range nodes { // what both saw under the other's lease is left for a second look
				if _, err := s.reports.RunOnce(t.Context()); err != nil {
					t.Error(err)
				}
				s.reports.Wait()
			}
			for k := range sites {
				for n, s := range nodes {
					if got := s.get(200, reportPath+"?cloudSiteUrl="+url(k)); got != file(k, 0, rows) {
						t.Errorf("round %d, site %d from node %d: %d bytes: %.100s", round, k, n, len(got), got)
					}
				}
			}
		}
		list, err := nodes[0].store.Sites(t.Context())
		if err != nil || len(list) != sites {
			t.Fatalf("%d sites, %v", len(list), err)
		}
		for _, s := range list {
			if s.Mappings() != rows {
				t.Errorf("%s has %d mappings", s.URL, s.Mappings())
			}
		}
	}, audit.Migrations, store.Migrations)
}
