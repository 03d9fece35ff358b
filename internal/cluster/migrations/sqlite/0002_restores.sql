-- Which database this is, in at most one row: identity is random, made when the
-- first node registers; begun_at is when that was, where the database was new,
-- else 0; begun_in is where it was begun.
CREATE TABLE cluster_database (
	id       INTEGER PRIMARY KEY CHECK (id = 1),
	identity TEXT NOT NULL,
	begun_at INTEGER NOT NULL,
	begun_in TEXT NOT NULL
) STRICT;

-- Each heartbeat of any node sets its beats above all others', so that an earlier
-- state of the database is told by counting, whatever the clocks say. 0: a program
-- that does not count.
ALTER TABLE cluster_nodes ADD COLUMN beats INTEGER NOT NULL DEFAULT 0 CHECK (beats >= 0);
