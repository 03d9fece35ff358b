package db

import "context"

// Size is how many bytes the database has on disk, and the write-ahead log beside
// it; PostgreSQL's own log is not the database's alone, and is 0.
func (d *DB) Size(ctx context.Context) (database, log int64, err error) {
	if e, ok := d.engine.(*sqliteEngine); ok {
		return e.disk.size(databaseFile), e.disk.size(logFile), nil
	}
	err = d.Read(ctx, func(tx *Tx) error {
		return tx.QueryRow(ctx, `SELECT pg_database_size(current_database())`).Scan(&database)
	})
	return database, 0, err
}
