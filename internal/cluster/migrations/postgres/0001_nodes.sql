-- Every node that ever was, by its last heartbeat.
CREATE TABLE cluster_nodes (
	id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	state      TEXT COLLATE "C" NOT NULL CHECK (state IN ('ACTIVE', 'PASSIVE', 'ACTIVATING', 'PASSIVATING', 'OFFLINE')),
	address    TEXT COLLATE "C" NOT NULL,
	version    TEXT COLLATE "C" NOT NULL,
	started_at BIGINT NOT NULL,
	beat_at    BIGINT NOT NULL,
	changed_at BIGINT NOT NULL
);

-- When no node listened: from the last sign of life of any to the next start.
CREATE TABLE cluster_gaps (
	from_at BIGINT NOT NULL PRIMARY KEY,
	to_at   BIGINT NOT NULL CHECK (to_at > from_at)
);
