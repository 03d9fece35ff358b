-- What needs attention on the overview, as the alerts channel is told of it.
CREATE TABLE alerts_notices (
	key     BYTEA NOT NULL PRIMARY KEY, -- SHA-256 of what tells it from others
	text    TEXT COLLATE "C" NOT NULL,
	link    TEXT COLLATE "C" NOT NULL, -- below base_url
	bad     BIGINT NOT NULL CHECK (bad IN (0, 1)),
	since   BIGINT NOT NULL,
	told_at BIGINT NOT NULL, -- 0: not yet
	gone_at BIGINT NOT NULL  -- 0: it is there
);

-- That the last message could not be sent, in at most one row.
CREATE TABLE alerts_failure (
	id        BIGINT PRIMARY KEY CHECK (id = 1),
	url       BYTEA NOT NULL, -- SHA-256 of the webhook URL
	failures  BIGINT NOT NULL CHECK (failures > 0), -- in a row
	failed_at BIGINT NOT NULL,
	next_at   BIGINT NOT NULL, -- not tried before
	reason    TEXT COLLATE "C" NOT NULL
);
