package store

import (
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// Sites lists the sites that there are mappings for, by URL.
func (s *Source) Sites(ctx context.Context) (sites []threads.Site, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		return tx.EachRow(ctx, "sites", func(row db.Row) error {
			var site threads.Site
			var k threads.SiteKind
			if err := row.Scan(&site.ID, &site.URL, &site.Version, db.At(&site.ChangedAt), &k.ID, &k.EntityType, &k.Mappings); err != nil {
				return err
			}
			if n := len(sites); n == 0 || sites[n-1].ID != site.ID {
				sites = append(sites, site)
			}
			last := &sites[len(sites)-1]
			last.Kinds = append(last.Kinds, k)
			return nil
		}, `SELECT s.id, s.url, s.version, s.changed_at, k.id, k.entity_type, k.mappings
			FROM threads_source_sites s JOIN threads_source_kinds k ON k.site_id = s.id ORDER BY s.url, k.entity_type`)
	})
	return sites, err
}

// addSite makes a row for a site unless it has one.
func addSite(ctx context.Context, tx *db.Tx, siteURL string) error {
	return tx.Do(ctx, "adding a site",
		`INSERT INTO threads_source_sites (url, version, changed_at) VALUES ($1, 0, $2) ON CONFLICT (url) DO NOTHING`,
		siteURL, db.Micros(tx.Now()))
}

// readSite returns a site without its kinds; fault.NotFound when it has no row.
func readSite(ctx context.Context, tx *db.Tx, siteURL, lock string) (site threads.Site, err error) {
	err = tx.FindOne(ctx, "site", fault.New(fault.NotFound, "There are no mappings for %s.", siteURL),
		[]any{&site.ID, &site.URL, &site.Version, db.At(&site.ChangedAt)},
		`SELECT id, url, version, changed_at FROM threads_source_sites WHERE url = $1`+lock, siteURL)
	return site, err
}

// readKinds returns the entity types of a site by name.
func readKinds(ctx context.Context, tx *db.Tx, site int64) (map[string]threads.SiteKind, error) {
	kinds := map[string]threads.SiteKind{}
	return kinds, tx.EachRow(ctx, "entity types", func(row db.Row) error {
		var k threads.SiteKind
		err := row.Scan(&k.ID, &k.EntityType, &k.Mappings)
		kinds[k.EntityType] = k
		return err
	}, `SELECT id, entity_type, mappings FROM threads_source_kinds WHERE site_id = $1`, site)
}

// siteChanged counts a site's version up: its reports are out of date.
func siteChanged(ctx context.Context, tx *db.Tx, site int64) error {
	return tx.Do(ctx, "counting a site's changes",
		`UPDATE threads_source_sites SET version = version + 1, changed_at = $2 WHERE id = $1`, site, db.Micros(tx.Now()))
}

// forgetSize is how many mappings one transaction removes: some 10 ms.
const forgetSize = 2000

// Forget removes a site with its mappings and reports. NotFound: it has none.
func (s *Source) Forget(ctx context.Context, siteURL string) (removed int64, err error) {
	for {
		n, done, err := s.forgetSome(ctx, siteURL)
		removed += n
		if done || err != nil {
			return removed, err
		}
	}
}

func (s *Source) forgetSome(ctx context.Context, siteURL string) (n int64, done bool, err error) {
	err = s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		n, done = 0, false
		site, err := readSite(ctx, tx, siteURL, tx.ForUpdate())
		if err != nil {
			return err
		}
		kinds, err := readKinds(ctx, tx, site.ID)
		if err != nil {
			return err
		}
		for _, k := range kinds {
			if k.Mappings == 0 {
				continue
			}
			n, err = tx.Changed(ctx, "removing mappings", `DELETE FROM threads_source_mappings WHERE kind_id = $1 AND server_id IN
				(SELECT server_id FROM threads_source_mappings WHERE kind_id = $1 ORDER BY server_id LIMIT $2)`, k.ID, forgetSize)
			if err != nil {
				return err
			}
			if err := tx.Do(ctx, "removing mappings",
				`UPDATE threads_source_kinds SET mappings = mappings - $2 WHERE id = $1`, k.ID, n); err != nil {
				return err
			}
			return siteChanged(ctx, tx, site.ID)
		}
		if done, err = dropReports(ctx, tx, site.ID, math.MaxInt64); !done || err != nil {
			return err
		}
		for _, q := range []string{`DELETE FROM threads_source_kinds WHERE site_id = $1`, `DELETE FROM threads_source_sites WHERE id = $1`} {
			if err := tx.Do(ctx, "removing a site", q, site.ID); err != nil {
				return err
			}
		}
		return nil
	})
	return n, done, err
}

// MappingsOf counts the mappings of a site; one that has none has 0.
func (s *Source) MappingsOf(ctx context.Context, siteURL string) (n int64, err error) {
	err = s.db.Get(ctx, "counting mappings", []any{&n}, `SELECT CAST(coalesce(sum(k.mappings), 0) AS BIGINT)
		FROM threads_source_kinds k JOIN threads_source_sites s ON s.id = k.site_id WHERE s.url = $1`, siteURL)
	return n, err
}

// Site returns a site with its kinds, by entity type.
func (s *Source) Site(ctx context.Context, siteURL string) (site threads.Site, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		if site, err = readSite(ctx, tx, siteURL, ""); err != nil {
			return err
		}
		kinds, err := readKinds(ctx, tx, site.ID)
		if err != nil {
			return err
		}
		site.Kinds = slices.SortedFunc(maps.Values(kinds), func(a, b threads.SiteKind) int { return strings.Compare(a.EntityType, b.EntityType) })
		return nil
	})
	return site, err
}
