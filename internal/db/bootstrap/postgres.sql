CREATE TABLE IF NOT EXISTS schema_migrations (
	component  TEXT COLLATE "C" NOT NULL,
	version    BIGINT NOT NULL,
	checksum   TEXT COLLATE "C" NOT NULL,
	applied_at BIGINT NOT NULL,
	PRIMARY KEY (component, version)
);
CREATE TABLE IF NOT EXISTS schema_meta (
	name  TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	value BIGINT NOT NULL
);
