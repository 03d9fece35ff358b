package db

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"path"
	"regexp"
	"strconv"
	"time"

	"outrigger/internal/fault"
)

// Migrations are the schema of one package. FS holds
// migrations/sqlite/0001_name.sql and migrations/postgres/0001_name.sql: the
// same versions for both, each one transaction, never changed once released.
// A file whose first line is "-- needs release: 7" shuts out programs whose
// Release is lower.
type Migrations struct {
	Name string // the component, by which applied versions are remembered
	FS   fs.FS
}

//go:embed migrations bootstrap
var files embed.FS

// Schema is this package's own: the leases. Migrate always applies it first.
var Schema = Migrations{Name: "db", FS: files}

// migration is one file.
type migration struct {
	component string
	version   int64
	file      string
	checksum  string
	script    string
	needs     int64 // the release; 0 is any
}

// Migrate brings the schema up to date, a transaction a file. Several programs
// may do so at once; one waits for the other. What it does not know is left alone,
// so that an older release runs beside a newer one, unless the schema says which
// release it needs: then the error is fault.Conflict. So it is when a file that was
// applied has changed since. It takes as long as the files need, and logs each;
// ctx ends it, and then the file that was under way has left nothing.
func (d *DB) Migrate(ctx context.Context, sets ...Migrations) error {
	var all []migration
	for _, set := range append([]Migrations{Schema}, sets...) {
		m, err := load(set, d.dialect)
		if err != nil {
			return err
		}
		all = append(all, m...)
	}
	p := startProgress(d.log)
	defer p.stop()
	if err := d.bootstrap(ctx, p); err != nil {
		return fmt.Errorf("preparing the schema: %w", err)
	}
	due, err := d.due(ctx, all)
	if err != nil {
		return err
	}
	if fresh := len(due) == len(all); !fresh && len(due) > 0 {
		p.level = slog.LevelInfo
		if err := d.announce(ctx, len(due)); err != nil {
			return err
		}
	}
	for _, m := range due {
		if err := d.apply(ctx, m, p); err != nil {
			return fmt.Errorf("migration %s of %s: %w", path.Base(m.file), m.component, err)
		}
	}
	return nil
}

// HasSchema reports whether Migrate has ever worked on the database.
func (d *DB) HasSchema(ctx context.Context) (has bool, err error) {
	q := `SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations')`
	if d.dialect == Postgres {
		q = `SELECT to_regclass('schema_migrations') IS NOT NULL`
	}
	err = d.Read(ctx, func(tx *Tx) error { return tx.QueryRow(ctx, q).Scan(&has) })
	if err != nil {
		return false, fmt.Errorf("looking for a schema: %w", err)
	}
	return has, nil
}

var (
	fileName     = regexp.MustCompile(`^(\d{4})_[a-z0-9_]+\.sql$`)
	needsRelease = regexp.MustCompile(`^-- needs release: (\d+)\s*\n`)
)

// load reads the files of set for one dialect, in order.
func load(set Migrations, dialect Dialect) ([]migration, error) {
	dir := path.Join("migrations", string(dialect))
	entries, err := fs.ReadDir(set.FS, dir)
	if err != nil {
		return nil, fmt.Errorf("migrations of %s: %w", set.Name, err)
	}
	var all []migration
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		parts := fileName.FindStringSubmatch(e.Name())
		if parts == nil {
			return nil, fmt.Errorf("migrations of %s: %s is not named like 0001_name.sql", set.Name, file)
		}
		script, err := fs.ReadFile(set.FS, file)
		if err != nil {
			return nil, fmt.Errorf("migrations of %s: %w", set.Name, err)
		}
		m := migration{component: set.Name, file: file, script: string(script)}
		m.version, _ = strconv.ParseInt(parts[1], 10, 64)
		if m.version != int64(len(all)+1) {
			return nil, fmt.Errorf("migrations of %s: %s is out of sequence", set.Name, file)
		}
		if needs := needsRelease.FindSubmatch(script); needs != nil {
			m.needs, _ = strconv.ParseInt(string(needs[1]), 10, 64)
		}
		sum := sha256.Sum256(script)
		m.checksum = hex.EncodeToString(sum[:])
		all = append(all, m)
	}
	return all, nil
}

// bootstrap makes the tables that remember migrations.
func (d *DB) bootstrap(ctx context.Context, p *progress) error {
	script, err := files.ReadFile(path.Join("bootstrap", string(d.dialect)+".sql"))
	if err != nil {
		return err
	}
	return d.change(ctx, func(tx *Tx) error {
		if err := tx.exclusive(ctx, p); err != nil {
			return err
		}
		if err := tx.script(ctx, string(script)); err != nil {
			return err
		}
		return tx.release(ctx)
	})
}

// due are those of all that have not been applied, in order.
func (d *DB) due(ctx context.Context, all []migration) (due []migration, err error) {
	err = d.Read(ctx, func(tx *Tx) error {
		due = nil
		for _, m := range all {
			applied, err := tx.applied(ctx, m)
			if err != nil {
				return err
			}
			if !applied {
				due = append(due, m)
			}
		}
		return nil
	})
	return due, err
}

// applied reports whether m has been.
func (tx *Tx) applied(ctx context.Context, m migration) (bool, error) {
	var checksum string
	found, err := tx.Find(ctx, "reading what was applied", []any{&checksum},
		`SELECT checksum FROM schema_migrations WHERE component = $1 AND version = $2`, m.component, m.version)
	if found && checksum != m.checksum {
		return false, fault.New(fault.Conflict, "The schema of this database was created by a different program: "+
			"its %s differs. Use the program that created it.", m.file)
	}
	return found, err
}

// apply runs one migration unless another program has meanwhile.
func (d *DB) apply(ctx context.Context, m migration, p *progress) error {
	began, ran := time.Now(), false
	err := d.change(ctx, func(tx *Tx) error {
		if err := tx.exclusive(ctx, p); err != nil {
			return err
		}
		if err := tx.release(ctx); err != nil {
			return err
		}
		applied, err := tx.applied(ctx, m)
		if ran = !applied; err != nil || applied {
			return err
		}
		all := statements(m.script)
		for i, statement := range all {
			p.at(m, fmt.Sprintf("%d of %d", i+1, len(all)), statement)
			if err := tx.script(ctx, statement); err != nil {
				return fmt.Errorf("statement %d of %d: %w", i+1, len(all), err)
			}
		}
		return tx.remember(ctx, m)
	})
	p.idle()
	if err == nil && ran {
		d.log.Log(ctx, p.level, "schema file applied", "component", m.component, "file", path.Base(m.file),
			"took", time.Since(began).Round(time.Millisecond))
	}
	return err
}

// change is Write for the schema, which takes as long as it takes, under ctx.
func (d *DB) change(ctx context.Context, fn func(tx *Tx) error) error {
	err := d.engine.change(ctx, fn)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return public(err)
}

// remember notes that m was applied, and what it asks of programs.
func (tx *Tx) remember(ctx context.Context, m migration) error {
	_, err := tx.Exec(ctx, `INSERT INTO schema_migrations (component, version, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
		m.component, m.version, m.checksum, Micros(tx.Now()))
	if err != nil || m.needs == 0 {
		return err
	}
	_, err = tx.Exec(ctx, `INSERT INTO schema_meta (name, value) VALUES ('needs_release', $1)
		ON CONFLICT (name) DO UPDATE SET value = excluded.value WHERE schema_meta.value < excluded.value`, m.needs)
	return err
}

// exclusive keeps other programs that migrate out until the transaction ends.
// On SQLite there are none.
func (tx *Tx) exclusive(ctx context.Context, p *progress) error {
	if tx.dialect == SQLite {
		return nil
	}
	p.waits()
	defer p.idle()
	const key = 0x6f75747269676765 // "outrigge"
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(key))
	return err
}

// script runs several statements without arguments.
func (tx *Tx) script(ctx context.Context, script string) error {
	if err := tx.ready(); err != nil {
		return err
	}
	return tx.note(tx.ses.script(tx.context(ctx), script))
}
