-- Every node that ever was, by its last heartbeat.
CREATE TABLE cluster_nodes (
	id         TEXT NOT NULL PRIMARY KEY,
	state      TEXT NOT NULL CHECK (state IN ('ACTIVE', 'PASSIVE', 'ACTIVATING', 'PASSIVATING', 'OFFLINE')),
	address    TEXT NOT NULL,
	version    TEXT NOT NULL,
	started_at INTEGER NOT NULL,
	beat_at    INTEGER NOT NULL,
	changed_at INTEGER NOT NULL
) STRICT;

-- When no node listened: from the last sign of life of any to the next start.
CREATE TABLE cluster_gaps (
	from_at INTEGER NOT NULL PRIMARY KEY,
	to_at   INTEGER NOT NULL CHECK (to_at > from_at)
) STRICT;
