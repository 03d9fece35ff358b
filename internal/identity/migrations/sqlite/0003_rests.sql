-- Tokens that are refused since a restore, until an administrator lets them work
-- again: they may have been revoked after the state that was restored.
CREATE TABLE identity_resting (
	token_id INTEGER NOT NULL PRIMARY KEY, -- one that is not there any more does no harm: ids are never used twice
	since    INTEGER NOT NULL
) STRICT;

-- From when the time is counted after which users of single sign-on who do not sign
-- in are paused, in at most one row: the start that turned it on.
CREATE TABLE identity_idle (
	id           INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
	counted_from INTEGER NOT NULL
) STRICT;
