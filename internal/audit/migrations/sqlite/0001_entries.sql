-- Who changed what. before_json and after_json are objects of the members that
-- differ; ids are never used twice.
CREATE TABLE audit_entries (
	id          INTEGER PRIMARY KEY AUTOINCREMENT,
	at          INTEGER NOT NULL,
	who         TEXT NOT NULL,
	source      TEXT NOT NULL,
	address     TEXT NOT NULL,
	request_id  TEXT NOT NULL,
	area        TEXT NOT NULL,
	action      TEXT NOT NULL,
	object      TEXT NOT NULL,
	object_id   TEXT NOT NULL,
	object_name TEXT NOT NULL,
	connection  TEXT NOT NULL,
	project     TEXT NOT NULL,
	repository  TEXT NOT NULL,
	before_json TEXT NOT NULL,
	after_json  TEXT NOT NULL
) STRICT;
CREATE INDEX audit_entries_at ON audit_entries (at, id);
CREATE INDEX audit_entries_area ON audit_entries (area, id);
