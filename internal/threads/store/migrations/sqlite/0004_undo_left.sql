-- The issues that undoing the migration has left as they are, or in part, by their
-- places in the data: what others changed, and what the target forbids or does not
-- show. answer is what the target said, as JSON. They stay until the next data, a
-- reset, or another undoing.
CREATE TABLE threads_undo_left (
    chunk          INTEGER NOT NULL,
    place          INTEGER NOT NULL,
    issue_id       INTEGER NOT NULL,
    cloud_issue_id INTEGER NOT NULL,
    reason         TEXT    NOT NULL,
    answer         TEXT    NOT NULL,
    PRIMARY KEY (chunk, place)
) STRICT, WITHOUT ROWID;
