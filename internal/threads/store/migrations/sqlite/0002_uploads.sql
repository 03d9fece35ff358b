-- A file on its way here. A draft can be added to, replaced and deleted; one
-- that is taken is being read; the rows of what is gone are deleted by and by.
CREATE TABLE threads_uploads (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('draft', 'taken', 'gone')),
    length     INTEGER NOT NULL CHECK (length >= 0),
    received   INTEGER NOT NULL CHECK (received >= 0 AND received <= length),
    metadata   TEXT    NOT NULL,
    filename   TEXT    NOT NULL,
    created_by TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX threads_uploads_draft ON threads_uploads (kind) WHERE state = 'draft';

-- Its content, as it came, in rows of 1 MiB at most.
CREATE TABLE threads_upload_rows (
    upload_id INTEGER NOT NULL REFERENCES threads_uploads (id),
    start     INTEGER NOT NULL,
    data      BLOB    NOT NULL,
    PRIMARY KEY (upload_id, start)
) STRICT;
