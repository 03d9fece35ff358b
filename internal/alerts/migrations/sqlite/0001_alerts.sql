-- What needs attention on the overview, as the alerts channel is told of it.
CREATE TABLE alerts_notices (
	key     BLOB NOT NULL PRIMARY KEY, -- SHA-256 of what tells it from others
	text    TEXT NOT NULL,
	link    TEXT NOT NULL, -- below base_url
	bad     INTEGER NOT NULL CHECK (bad IN (0, 1)),
	since   INTEGER NOT NULL,
	told_at INTEGER NOT NULL, -- 0: not yet
	gone_at INTEGER NOT NULL  -- 0: it is there
) STRICT, WITHOUT ROWID;

-- That the last message could not be sent, in at most one row.
CREATE TABLE alerts_failure (
	id        INTEGER PRIMARY KEY CHECK (id = 1),
	url       BLOB NOT NULL, -- SHA-256 of the webhook URL
	failures  INTEGER NOT NULL CHECK (failures > 0), -- in a row
	failed_at INTEGER NOT NULL,
	next_at   INTEGER NOT NULL, -- not tried before
	reason    TEXT NOT NULL
) STRICT;
