-- What administrators set, in one row. version counts saves; proxy_url is
-- sealed, since it may hold a password.
CREATE TABLE settings (
	id         INTEGER PRIMARY KEY CHECK (id = 1),
	version    INTEGER NOT NULL CHECK (version >= 0),
	proxy_url  BLOB,
	updated_by TEXT NOT NULL,
	updated_at INTEGER NOT NULL
) STRICT;
INSERT INTO settings (id, version, updated_by, updated_at) VALUES (1, 0, '', 0);
