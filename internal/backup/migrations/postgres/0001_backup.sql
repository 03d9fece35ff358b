-- That this database was restored from a backup, in at most one row. Until it is
-- confirmed nothing is sent: what waits in it may have gone out already.
CREATE TABLE backup_restored (
	id           BIGINT PRIMARY KEY CHECK (id = 1),
	file         TEXT COLLATE "C" NOT NULL,
	restored_at  BIGINT NOT NULL,
	confirmed_by TEXT COLLATE "C" NOT NULL,
	confirmed_at BIGINT NOT NULL CHECK (confirmed_at >= 0)
);
