-- What is known of each node's mail queue: the last sizes that its source gave,
-- since when it gives none, and for a node that is only watched its state. A
-- node of Outrigger's own has its state in the cluster's table.
CREATE TABLE mailqueue_nodes (
	node_id       TEXT NOT NULL PRIMARY KEY,
	watched       INTEGER NOT NULL CHECK (watched IN (0, 1)),
	source        TEXT NOT NULL,
	size          INTEGER NOT NULL CHECK (size >= 0),
	error_size    INTEGER NOT NULL CHECK (error_size >= 0),
	sampled_at    INTEGER NOT NULL, -- when they were read; 0: never
	error         TEXT NOT NULL,    -- why the source gives none; '' when it does
	failing_since INTEGER NOT NULL,
	state         TEXT NOT NULL CHECK (state IN ('', 'ACTIVE', 'OFFLINE')),
	changed_at    INTEGER NOT NULL,
	mail_at       INTEGER NOT NULL  -- when it was last seen OFFLINE with messages
) STRICT;

-- The course of the sizes.
CREATE TABLE mailqueue_samples (
	node_id    TEXT NOT NULL,
	at         INTEGER NOT NULL,
	size       INTEGER NOT NULL CHECK (size >= 0),
	error_size INTEGER NOT NULL CHECK (error_size >= 0),
	PRIMARY KEY (node_id, at)
) STRICT;
CREATE INDEX mailqueue_samples_at ON mailqueue_samples (at);
