-- That this database was restored from a backup, in at most one row. Until it is
-- confirmed nothing is sent: what waits in it may have gone out already.
CREATE TABLE backup_restored (
	id           INTEGER PRIMARY KEY CHECK (id = 1),
	file         TEXT NOT NULL,
	restored_at  INTEGER NOT NULL,
	confirmed_by TEXT NOT NULL,
	confirmed_at INTEGER NOT NULL CHECK (confirmed_at >= 0)
) STRICT;
