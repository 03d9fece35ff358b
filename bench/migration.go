package main

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // for the parts done bare

	"outrigger/internal/loadtest"
	"outrigger/internal/threads"
	"outrigger/internal/threads/client"
	"outrigger/internal/threads/format"
	"outrigger/internal/threads/threadstest"
)

const (
	// repliesAnIssue is about what hosts have.
	repliesAnIssue = 5
	// bareRows go into one INSERT of the parts done bare; more bring nothing.
	bareRows = 100
)

// migration measures 1,000,000 records, 1,200,000 comment mappings (the parents
// have theirs too) and 200,000 issue mappings from upload to COMPLETED, and
// twice as many to show how time and memory grow.
func (b *bench) migration(ctx context.Context) error {
	if err := b.migrationOnPostgres(ctx, 1_000_000); err != nil {
		return err
	}
	for _, n := range []int64{1_000_000, 2_000_000} {
		files, err := b.migrationFiles(n)
		if err != nil {
			return err
		}
		bare, err := b.bareParts(ctx, files)
		if err != nil {
			return fmt.Errorf("parts done bare: %w", err)
		}
		took, memory, err := b.migrate(ctx, loadtest.Settings{}, files, n)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("migration of %d records", n)
		b.row(name, fmt.Sprintf("%.1f s (its parts done bare %.1f s)", took.Seconds(), bare.Seconds()), "")
		b.row(name+": times its parts", fmt.Sprintf("%.1f", took.Seconds()/bare.Seconds()), "at most 2")
		b.row(name+": most resident memory", mib(memory), "under 256 MiB")
		for _, f := range files {
			if err := os.Remove(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// migrationOnPostgres does the same with the database that nodes share.
func (b *bench) migrationOnPostgres(ctx context.Context, n int64) error {
	url, err := b.database(ctx)
	if err != nil {
		return err
	}
	if url == "" {
		b.row("migration on PostgreSQL", "not measured: TEST_POSTGRES_URL is not set", "")
		return nil
	}
	files, err := b.migrationFiles(n)
	if err != nil {
		return err
	}
	took, memory, err := b.migrate(ctx, loadtest.Settings{DatabaseURL: url, NodeID: "bench"}, files, n)
	if err != nil {
		return err
	}
	name := fmt.Sprintf("migration of %d records on PostgreSQL", n)
	b.row(name, fmt.Sprintf("%.1f s", took.Seconds()), "about 10 s")
	b.row(name+": most resident memory", mib(memory), "under 256 MiB")
	return nil
}

// migrationFiles writes a hierarchy and its mappings: the names by kind.
func (b *bench) migrationFiles(n int64) (map[string]string, error) {
	records, mappings := threadstest.Many(n, repliesAnIssue)
	files := map[string]string{}
	for kind, content := range map[string]string{
		threads.HierarchyFile: threadstest.Hierarchy(records), threads.MappingsFile: threadstest.CSV(mappings),
	} {
		files[kind] = filepath.Join(b.dir, kind)
		if err := os.WriteFile(files[kind], []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// migrate returns how long a fresh node takes from upload to COMPLETED, and the
// most memory that it had.
func (b *bench) migrate(ctx context.Context, s loadtest.Settings, files map[string]string, n int64) (time.Duration, int64, error) {
	p, err := b.node(ctx, s)
	if err != nil {
		return 0, 0, err
	}
	c := p.Threads()
	began := time.Now()
	for kind, name := range files {
		if err := upload(ctx, c, kind, name); err != nil {
			return 0, 0, fmt.Errorf("upload the %s file: %w", kind, err)
		}
	}
	read, err := c.Preview(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	if _, err := c.Operate(ctx, threads.OpUpload, threads.Wish{Drafts: read.Drafts}); err != nil {
		return 0, 0, err
	}
	if _, err := c.Follow(ctx, nil, threads.PhaseLoading); err != nil {
		return 0, 0, err
	}
	if _, err := c.Operate(ctx, threads.OpStart, threads.Wish{Drafts: read.Drafts}); err != nil {
		return 0, 0, err
	}
	st, err := c.Follow(ctx, nil, threads.PhaseProcessing)
	if err != nil {
		return 0, 0, err
	}
	took := time.Since(began)
	if st.Phase != threads.PhaseCompleted || st.ParentMapsCreated != n {
		return 0, 0, fmt.Errorf("it ends %s with %d of %d relations: %s", st.Phase, st.ParentMapsCreated, n, st.Message)
	}
	memory, err := loadtest.PeakResident(p.PID())
	return took, memory, err
}

func upload(ctx context.Context, c *client.Client, kind, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = c.Upload(ctx, "", kind, f, false, nil)
	return err
}

// bareParts does what a migration cannot do without, one after the other and
// nothing else: decode both files, insert what is in them, read the records
// back, insert a map for each issue.
func (b *bench) bareParts(ctx context.Context, files map[string]string) (time.Duration, error) {
	name := filepath.Join(b.dir, "bare.db")
	d, err := sql.Open("sqlite", name+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		return 0, err
	}
	defer os.Remove(name)
	defer d.Close()
	for _, table := range []string{
		`CREATE TABLE records (issue INTEGER, comment INTEGER, parent INTEGER) STRICT`,
		`CREATE TABLE mappings (server INTEGER, cloud INTEGER, kind INTEGER) STRICT`,
		`CREATE TABLE maps (issue INTEGER PRIMARY KEY, parents TEXT) STRICT`,
	} {
		if _, err := d.ExecContext(ctx, table); err != nil {
			return 0, err
		}
	}
	began := time.Now()
	for _, part := range []func(context.Context, *sql.Tx) error{
		func(ctx context.Context, tx *sql.Tx) error {
			return bareHierarchy(ctx, tx, files[threads.HierarchyFile])
		},
		func(ctx context.Context, tx *sql.Tx) error { return bareMappings(ctx, tx, files[threads.MappingsFile]) },
		bareMaps,
	} {
		tx, err := d.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		if err := part(ctx, tx); err != nil {
			return 0, errors.Join(err, tx.Rollback())
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

func bareHierarchy(ctx context.Context, tx *sql.Tx, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := format.Open(f, 1<<40)
	if err != nil {
		return err
	}
	d := format.NewHierarchyDecoder(in)
	return bareRecords(d.Next, bareInsert{ctx: ctx, tx: tx, into: "records", columns: 3}, func(r threads.Record) []any {
		return []any{r.IssueID, r.CommentID, r.ParentCommentID}
	})
}

func bareMappings(ctx context.Context, tx *sql.Tx, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := format.NewMappingDecoder(bufio.NewReader(f))
	return bareRecords(d.Next, bareInsert{ctx: ctx, tx: tx, into: "mappings", columns: 3}, func(m threads.IDMapping) []any {
		return []any{m.ServerID, m.CloudID, len(m.EntityType)}
	})
}

// bareRecords inserts all that next gives.
func bareRecords[T any](next func() (T, error), out bareInsert, values func(T) []any) error {
	for {
		one, err := next()
		if errors.Is(err, io.EOF) {
			return out.flush()
		}
		if err == nil {
			err = out.add(values(one)...)
		}
		if err != nil {
			return err
		}
	}
}

// bareMaps reads the records back, which are in the order of issues already.
func bareMaps(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `SELECT issue, comment, parent FROM records ORDER BY rowid`)
	if err != nil {
		return err
	}
	defer rows.Close()
	var issue int64
	var relations []threads.Relation
	out := bareInsert{ctx: ctx, tx: tx, into: "maps", columns: 2}
	for rows.Next() {
		var r threads.Record
		if err := rows.Scan(&r.IssueID, &r.CommentID, &r.ParentCommentID); err != nil {
			return err
		}
		if r.IssueID != issue && len(relations) > 0 {
			if err := out.add(issue, string(threads.NewParentMap(relations).AppendJSON(nil))); err != nil {
				return err
			}
			relations = relations[:0]
		}
		issue = r.IssueID
		relations = append(relations, threads.Relation{CommentID: r.CommentID, ParentID: r.ParentCommentID})
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if err := out.add(issue, string(threads.NewParentMap(relations).AppendJSON(nil))); err != nil {
		return err
	}
	return out.flush()
}

// bareInsert inserts rows, many with a statement.
type bareInsert struct {
	ctx     context.Context
	tx      *sql.Tx
	into    string
	columns int
	many    *sql.Stmt
	args    []any
}

func (i *bareInsert) add(values ...any) error {
	if i.args = append(i.args, values...); len(i.args) < bareRows*i.columns {
		return nil
	}
	if i.many == nil {
		var err error
		if i.many, err = i.tx.PrepareContext(i.ctx, i.statement(bareRows)); err != nil {
			return err
		}
	}
	_, err := i.many.ExecContext(i.ctx, i.args...)
	i.args = i.args[:0]
	return err
}

func (i *bareInsert) statement(rows int) string {
	q := "INSERT INTO " + i.into + " VALUES "
	for r := range rows {
		if r > 0 {
			q += ", "
		}
		q += "(?"
		for range i.columns - 1 {
			q += ", ?"
		}
		q += ")"
	}
	return q
}

func (i *bareInsert) flush() error {
	if len(i.args) == 0 {
		return nil
	}
	_, err := i.tx.ExecContext(i.ctx, i.statement(len(i.args)/i.columns), i.args...)
	return err
}
