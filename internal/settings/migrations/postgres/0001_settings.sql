-- What administrators set, in one row. version counts saves; proxy_url is
-- sealed, since it may hold a password.
CREATE TABLE settings (
	id         BIGINT PRIMARY KEY CHECK (id = 1),
	version    BIGINT NOT NULL CHECK (version >= 0),
	proxy_url  BYTEA,
	updated_by TEXT COLLATE "C" NOT NULL,
	updated_at BIGINT NOT NULL
);
INSERT INTO settings (id, version, updated_by, updated_at) VALUES (1, 0, '', 0);
