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
	"strings"
	"time"

	_ "modernc.org/sqlite" // for the parts done bare

	"outrigger/internal/loadtest"
	"outrigger/internal/threads"
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
// twice as many to show how time and memory grow; on PostgreSQL, with the database
// that nodes share.
func (b *bench) migration(ctx context.Context) {
	if s, ok := b.postgresNode(ctx, "migration on PostgreSQL"); ok {
		const n = 1_000_000
		hierarchy, mappings := b.migrationFiles(n)
		took, memory := b.migrate(ctx, s, hierarchy, mappings, n)
		name := fmt.Sprintf("migration of %d records on PostgreSQL", n)
		b.row(name, fmt.Sprintf("%.1f s", took.Seconds()), "about 10 s")
		b.row(name+": most resident memory", mib(memory), "under 256 MiB")
	}
	for _, n := range []int64{1_000_000, 2_000_000} {
		hierarchy, mappings := b.migrationFiles(n)
		bare := b.bareParts(ctx, hierarchy, mappings)
		took, memory := b.migrate(ctx, loadtest.Settings{}, hierarchy, mappings, n)
		name := fmt.Sprintf("migration of %d records", n)
		b.row(name, fmt.Sprintf("%.1f s (its parts done bare %.1f s)", took.Seconds(), bare.Seconds()), "")
		b.row(name+": times its parts", fmt.Sprintf("%.1f", took.Seconds()/bare.Seconds()), "at most 2")
		b.row(name+": most resident memory", mib(memory), "under 256 MiB")
	}
}

// migrationFiles writes a hierarchy and its mappings over those before.
func (b *bench) migrationFiles(n int64) (hierarchy, mappings string) {
	records, ids := threadstest.Many(n, repliesAnIssue)
	hierarchy, mappings = filepath.Join(b.dir, "hierarchy"), filepath.Join(b.dir, "mappings")
	check(os.WriteFile(hierarchy, []byte(threadstest.Hierarchy(records)), 0o600))
	check(os.WriteFile(mappings, []byte(threadstest.CSV(ids)), 0o600))
	return hierarchy, mappings
}

// migrate returns how long a fresh node takes from upload to COMPLETED, and the
// most memory that it had.
func (b *bench) migrate(ctx context.Context, s loadtest.Settings, hierarchy, mappings string, n int64) (time.Duration, int64) {
	p := b.node(ctx, s)
	c := p.Threads()
	began := time.Now()
	for kind, name := range map[string]string{threads.HierarchyFile: hierarchy, threads.MappingsFile: mappings} {
		f := must(os.Open(name))
		must(c.Upload(ctx, "", kind, f, false, nil))
		f.Close()
	}
	wish := threads.Wish{Drafts: must(c.Preview(ctx, nil)).Drafts}
	must(c.Operate(ctx, threads.OpUpload, wish))
	must(c.Follow(ctx, nil, threads.PhaseLoading))
	must(c.Operate(ctx, threads.OpStart, wish))
	st := must(c.Follow(ctx, nil, threads.PhaseProcessing))
	took := time.Since(began)
	if st.Phase != threads.PhaseCompleted || st.ParentMapsCreated != n {
		check(fmt.Errorf("it ends %s with %d of %d relations: %s", st.Phase, st.ParentMapsCreated, n, st.Message))
	}
	return took, must(loadtest.PeakResident(p.PID()))
}

// bareParts does what a migration cannot do without, one after the other and
// nothing else: decode both files, insert what is in them, read the records
// back, insert a map for each issue.
func (b *bench) bareParts(ctx context.Context, hierarchy, mappings string) time.Duration {
	name := filepath.Join(b.dir, "bare.db")
	d := must(sql.Open("sqlite", name+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)"))
	defer os.Remove(name)
	defer d.Close()
	must(d.ExecContext(ctx, `CREATE TABLE records (issue INTEGER, comment INTEGER, parent INTEGER) STRICT;
		CREATE TABLE mappings (server INTEGER, cloud INTEGER, kind INTEGER) STRICT;
		CREATE TABLE maps (issue INTEGER PRIMARY KEY, parents TEXT) STRICT`))
	began := time.Now()
	for _, part := range []func(context.Context, *sql.Tx){
		func(ctx context.Context, tx *sql.Tx) { bareHierarchy(ctx, tx, hierarchy) },
		func(ctx context.Context, tx *sql.Tx) { bareMappings(ctx, tx, mappings) },
		bareMaps,
	} {
		tx := must(d.BeginTx(ctx, nil))
		part(ctx, tx)
		check(tx.Commit())
	}
	return time.Since(began)
}

func bareHierarchy(ctx context.Context, tx *sql.Tx, name string) {
	f := must(os.Open(name))
	defer f.Close()
	out := bareInsert{ctx: ctx, tx: tx, into: "records", columns: 3}
	eachOf(format.NewHierarchyDecoder(must(format.Open(f, 1<<40))).Next, func(r threads.Record) {
		out.add(r.IssueID, r.CommentID, r.ParentCommentID)
	})
	out.flush()
}

func bareMappings(ctx context.Context, tx *sql.Tx, name string) {
	f := must(os.Open(name))
	defer f.Close()
	out := bareInsert{ctx: ctx, tx: tx, into: "mappings", columns: 3}
	eachOf(format.NewMappingDecoder(bufio.NewReader(f)).Next, func(m threads.IDMapping) {
		out.add(m.ServerID, m.CloudID, len(m.EntityType))
	})
	out.flush()
}

// eachOf calls do with all that next gives.
func eachOf[T any](next func() (T, error), do func(T)) {
	for one, err := next(); !errors.Is(err, io.EOF); one, err = next() {
		check(err)
		do(one)
	}
}

// bareMaps reads the records back, which are in the order of issues already.
func bareMaps(ctx context.Context, tx *sql.Tx) {
	rows := must(tx.QueryContext(ctx, `SELECT issue, comment, parent FROM records ORDER BY rowid`))
	defer rows.Close()
	var issue int64
	var relations []threads.Relation
	out := bareInsert{ctx: ctx, tx: tx, into: "maps", columns: 2}
	add := func() {
		if len(relations) > 0 {
			out.add(issue, string(threads.NewParentMap(relations).AppendJSON(nil)))
			relations = relations[:0]
		}
	}
	for rows.Next() {
		var r threads.Record
		check(rows.Scan(&r.IssueID, &r.CommentID, &r.ParentCommentID))
		if r.IssueID != issue {
			add()
		}
		issue = r.IssueID
		relations = append(relations, threads.Relation{CommentID: r.CommentID, ParentID: r.ParentCommentID})
	}
	check(rows.Err())
	add()
	out.flush()
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

func (i *bareInsert) add(values ...any) {
	if i.args = append(i.args, values...); len(i.args) < bareRows*i.columns {
		return
	}
	if i.many == nil {
		i.many = must(i.tx.PrepareContext(i.ctx, i.statement(bareRows)))
	}
	must(i.many.ExecContext(i.ctx, i.args...))
	i.args = i.args[:0]
}

func (i *bareInsert) statement(rows int) string {
	row := "(?" + strings.Repeat(", ?", i.columns-1) + ")"
	return "INSERT INTO " + i.into + " VALUES " + row + strings.Repeat(", "+row, rows-1)
}

func (i *bareInsert) flush() {
	if len(i.args) > 0 {
		must(i.tx.ExecContext(i.ctx, i.statement(len(i.args)/i.columns), i.args...))
	}
}
