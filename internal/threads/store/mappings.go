package store

import (
	"context"
	"math"
	"strconv"

	"outrigger/internal/db"
	"outrigger/internal/fault"
	"outrigger/internal/threads"
)

// maxKinds is far above the two dozen entity types of real reports, and keeps
// a file of something else from making one of every line.
const maxKinds = 1000

// MergeMappings takes one slice of mappings of a site in. Of an entity that
// comes twice the last mapping counts.
func (s *Source) MergeMappings(ctx context.Context, siteURL string, mappings []threads.IDMapping) (n threads.ImportCounts, err error) {
	byKind := map[string][]threads.IDMapping{}
	for _, m := range mappings {
		byKind[m.EntityType] = append(byKind[m.EntityType], m)
	}
	err = s.db.WriteBulk(ctx, func(tx *db.Tx) error {
		n = threads.ImportCounts{}
		if err := addSite(ctx, tx, siteURL); err != nil {
			return err
		}
		site, err := readSite(ctx, tx, siteURL, tx.ForUpdate())
		if err != nil {
			return err
		}
		kinds, err := addKinds(ctx, tx, site.ID, byKind)
		if err != nil {
			return err
		}
		for name, list := range byKind {
			c, err := mergeKind(ctx, tx, kinds[name].ID, list)
			if err != nil {
				return err
			}
			n.Add(c)
		}
		if n.Added+n.Replaced == 0 {
			return nil
		}
		return siteChanged(ctx, tx, site.ID)
	})
	return n, err
}

// addKinds makes rows for entity types that a site does not have yet.
func addKinds(ctx context.Context, tx *db.Tx, site int64, wanted map[string][]threads.IDMapping) (map[string]threads.SiteKind, error) {
	kinds, err := readKinds(ctx, tx, site)
	if err != nil {
		return nil, err
	}
	var missing [][]any
	for name := range wanted {
		if _, ok := kinds[name]; !ok {
			missing = append(missing, []any{site, name})
		}
	}
	if len(missing) == 0 {
		return kinds, nil
	}
	if len(kinds)+len(missing) > maxKinds {
		return nil, fault.New(fault.Invalid, "The file has more than %d entity types; it is not an id mappings report.", maxKinds)
	}
	if err := tx.Each(ctx, "adding entity types",
		`INSERT INTO threads_source_kinds (site_id, entity_type, mappings) VALUES ($1, $2, 0)`, missing, nil); err != nil {
		return nil, err
	}
	return readKinds(ctx, tx, site)
}

// mergeKind takes mappings of one entity type in.
func mergeKind(ctx context.Context, tx *db.Tx, kind int64, mappings []threads.IDMapping) (n threads.ImportCounts, err error) {
	servers, clouds := make([]int64, len(mappings)), make([]int64, len(mappings))
	for i, m := range mappings {
		servers[i], clouds[i] = m.ServerID, m.CloudID
	}
	stored, err := storedMappings(ctx, tx, kind, servers)
	if err != nil {
		return n, err
	}
	now, changed, n := settle(stored, servers, clouds)
	err = db.Insert[int64]{
		Into: `threads_source_mappings (kind_id, server_id, cloud_id)`,
		Columns: []db.Column[int64]{
			db.Number(func(int64) int64 { return kind }),
			db.Number(func(server int64) int64 { return server }),
			db.Number(func(server int64) int64 { return now[server] }),
		},
		OnConflict: `ON CONFLICT (kind_id, server_id) DO UPDATE SET cloud_id = excluded.cloud_id`,
	}.Rows(ctx, tx, "storing mappings", changed)
	if err == nil && n.Added > 0 {
		err = tx.Do(ctx, "storing mappings", `UPDATE threads_source_kinds SET mappings = mappings + $2 WHERE id = $1`, kind, n.Added)
	}
	return n, err
}

// storedMappings reads what is stored of some ids of one entity type.
func storedMappings(ctx context.Context, tx *db.Tx, kind int64, servers []int64) (map[int64]int64, error) {
	// The kind is written into the text, of which there are few: SQLite takes no
	// argument with a number beside those without.
	q := `SELECT server_id, cloud_id FROM threads_source_mappings WHERE kind_id = ` + strconv.FormatInt(kind, 10) + ` AND `
	where, args := among(tx.Dialect(), `server_id`, servers)
	if tx.Dialect() == db.Postgres {
		// LIMIT has it look each id up in the key. With = ANY, PostgreSQL reads
		// everything that the entity type has.
		q, where = `SELECT m.server_id, m.cloud_id FROM unnest($1::bigint[]) AS q (id), LATERAL (`+q, `server_id = q.id LIMIT 1) AS m`
	}
	stored := map[int64]int64{}
	return stored, tx.EachRow(ctx, "stored mappings", func(row db.Row) error {
		var server, cloud int64
		err := row.Scan(&server, &cloud)
		stored[server] = cloud
		return err
	}, q+where, args...)
}

// readMappingCount is how many mappings one transaction reads: some 10 ms.
const readMappingCount = 5000

// EachMapping returns every mapping of a site to take, by entity type and server
// id.
func (s *Source) EachMapping(ctx context.Context, site threads.Site, take func(threads.IDMapping) error) error {
	for _, k := range site.Kinds {
		after := int64(math.MinInt64)
		for {
			mappings, err := s.readMappings(ctx, k, after)
			if err != nil {
				return err
			}
			for _, m := range mappings {
				if err := take(m); err != nil {
					return err
				}
				after = m.ServerID
			}
			if len(mappings) < readMappingCount {
				break
			}
		}
	}
	return nil
}

func (s *Source) readMappings(ctx context.Context, k threads.SiteKind, after int64) (mappings []threads.IDMapping, err error) {
	err = s.db.Read(ctx, func(tx *db.Tx) error {
		mappings = make([]threads.IDMapping, 0, readMappingCount)
		return tx.Each(ctx, "mappings", `SELECT server_id, cloud_id FROM threads_source_mappings
			WHERE kind_id = $1 AND server_id > $2 ORDER BY server_id LIMIT $3`,
			[][]any{{k.ID, after, readMappingCount}}, func(_ int, row db.Row) error {
				m := threads.IDMapping{EntityType: k.EntityType}
				err := row.Scan(&m.ServerID, &m.CloudID)
				mappings = append(mappings, m)
				return err
			})
	})
	return mappings, err
}
