CREATE TABLE IF NOT EXISTS schema_migrations (
	component  TEXT NOT NULL,
	version    INTEGER NOT NULL,
	checksum   TEXT NOT NULL,
	applied_at INTEGER NOT NULL,
	PRIMARY KEY (component, version)
) STRICT;
CREATE TABLE IF NOT EXISTS schema_meta (
	name  TEXT NOT NULL PRIMARY KEY,
	value INTEGER NOT NULL
) STRICT;
