-- What is known of each node's mail queue: the last sizes that its source gave,
-- since when it gives none, and for a node that is only watched its state. A
-- node of Outrigger's own has its state in the cluster's table.
CREATE TABLE mailqueue_nodes (
	node_id       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	watched       BIGINT NOT NULL CHECK (watched IN (0, 1)),
	source        TEXT COLLATE "C" NOT NULL,
	size          BIGINT NOT NULL CHECK (size >= 0),
	error_size    BIGINT NOT NULL CHECK (error_size >= 0),
	sampled_at    BIGINT NOT NULL, -- when they were read; 0: never
	error         TEXT COLLATE "C" NOT NULL,    -- why the source gives none; '' when it does
	failing_since BIGINT NOT NULL,
	state         TEXT COLLATE "C" NOT NULL CHECK (state IN ('', 'ACTIVE', 'OFFLINE')),
	changed_at    BIGINT NOT NULL,
	mail_at       BIGINT NOT NULL  -- when it was last seen OFFLINE with messages
);

-- The course of the sizes.
CREATE TABLE mailqueue_samples (
	node_id    TEXT COLLATE "C" NOT NULL,
	at         BIGINT NOT NULL,
	size       BIGINT NOT NULL CHECK (size >= 0),
	error_size BIGINT NOT NULL CHECK (error_size >= 0),
	PRIMARY KEY (node_id, at)
);
CREATE INDEX mailqueue_samples_at ON mailqueue_samples (at);
