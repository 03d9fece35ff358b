package stored

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // pgx
	_ "modernc.org/sqlite"             // sqlite
)

// The files of a stored database, each compressed with gzip, in the folder of its kind.
const (
	databaseFile = "database.gz" // the SQLite file, or what pg_dump wrote
	detailsFile  = "details.json.gz"
)

// Details are kept beside a stored database.
type Details struct {
	Made      time.Time // when its program stopped
	Secrets   Secrets
	Inventory Inventory
}

// Save puts a database, as a SQLite file or a dump, into dir.
func Save(dir string, database []byte, d Details) error {
	text, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(pack(filepath.Join(dir, databaseFile), database), pack(filepath.Join(dir, detailsFile), text))
}

func pack(name string, content []byte) error {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o644)
}

func unpack(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// Load puts the stored database of dir into a data folder, or into an empty
// PostgreSQL database where url is not empty, as if it had been made just now: shift
// is by how much its times are later.
func Load(ctx context.Context, dir, folder, url string) (d Details, shift time.Duration, err error) {
	text, err := unpack(filepath.Join(dir, detailsFile))
	if err != nil {
		return d, 0, err
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, 0, err
	}
	content, err := unpack(filepath.Join(dir, databaseFile))
	if err != nil {
		return d, 0, err
	}
	if shift = time.Since(d.Made).Truncate(time.Second); shift%time.Minute == 0 {
		shift -= time.Second // what is unique by a minute must not move onto its neighbour
	}
	driver, source, columns := "sqlite", filepath.Join(folder, "outrigger.db"), sqliteColumns
	if url == "" {
		err = os.WriteFile(source, content, 0o600)
	} else {
		driver, source, columns = "pgx", url, postgresColumns
		err = restore(ctx, url, string(content))
	}
	if err != nil {
		return d, 0, err
	}
	db, err := sql.Open(driver, source)
	if err != nil {
		return d, 0, err
	}
	return d, shift, errors.Join(moveTimes(ctx, db, columns, shift), db.Close())
}

// restore runs a plain dump. What only psql understands begins with a backslash.
func restore(ctx context.Context, url, dump string) error {
	var script strings.Builder
	for line := range strings.Lines(dump) {
		if !strings.HasPrefix(line, `\restrict`) && !strings.HasPrefix(line, `\unrestrict`) {
			script.WriteString(line)
		}
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = conn.PgConn().Exec(ctx, script.String()).ReadAll()
	return errors.Join(err, conn.Close(ctx))
}

const (
	sqliteColumns = `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND c.type = 'INTEGER'`
	postgresColumns = `SELECT table_name, column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type = 'bigint'`
)

// moveTimes adds shift to every integer that is a time in microseconds of the years
// 2020 to 2060: what is kept is never another number as large.
func moveTimes(ctx context.Context, db *sql.DB, columns string, shift time.Duration) error {
	rows, err := db.QueryContext(ctx, columns)
	if err != nil {
		return err
	}
	var all [][2]string
	for rows.Next() {
		var c [2]string
		if err := rows.Scan(&c[0], &c[1]); err != nil {
			return err
		}
		all = append(all, c)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	from, to := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro(), time.Date(2060, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	var moved int64
	for _, c := range all {
		q := fmt.Sprintf(`UPDATE %[1]s SET %[2]s = %[2]s + %[3]d WHERE %[2]s BETWEEN %[4]d AND %[5]d`,
			c[0], c[1], shift.Microseconds(), from, to)
		done, err := db.ExecContext(ctx, q)
		if err != nil {
			return fmt.Errorf("moving the times of %s.%s: %w", c[0], c[1], err)
		}
		n, err := done.RowsAffected()
		if err != nil {
			return err
		}
		moved += n
	}
	if moved == 0 {
		return errors.New("the stored database has no times to move")
	}
	return nil
}
