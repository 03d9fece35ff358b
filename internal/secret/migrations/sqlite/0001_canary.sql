CREATE TABLE secret_canary (
	id     INTEGER PRIMARY KEY CHECK (id = 1),
	sealed BLOB NOT NULL
) STRICT;
