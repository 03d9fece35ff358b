-- The hierarchy as the export gives it, in that order on the disk.
CREATE TABLE threads_source_records (
    issue_id          INTEGER NOT NULL,
    comment_id        INTEGER NOT NULL CONSTRAINT threads_source_records_comment UNIQUE,
    parent_comment_id INTEGER NOT NULL,
    PRIMARY KEY (issue_id, comment_id)
) STRICT, WITHOUT ROWID;

-- The records cut into blocks of about a thousand: the key from which a block
-- reaches to the next one's, and how many records are in it. What an offset is
-- found by.
CREATE TABLE threads_source_blocks (
    issue_id   INTEGER NOT NULL,
    comment_id INTEGER NOT NULL,
    records    INTEGER NOT NULL CHECK (records >= 0),
    PRIMARY KEY (issue_id, comment_id)
) STRICT, WITHOUT ROWID;
INSERT INTO threads_source_blocks (issue_id, comment_id, records) VALUES (-9223372036854775808, -9223372036854775808, 0);

-- One row. Every change to the records counts the generation up. mirror_removes is
-- how many records the last reading would have removed, where that was too many;
-- mirror_may_remove what an administrator has accepted for the next one.
CREATE TABLE threads_source_state (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    generation      INTEGER NOT NULL,
    records         INTEGER NOT NULL CHECK (records >= 0),
    changed_at      INTEGER NOT NULL,
    mirrored_at     INTEGER NOT NULL,
    mirror_tried_at INTEGER NOT NULL,
    mirror_failing_since INTEGER NOT NULL,
    mirror_removes    INTEGER NOT NULL CHECK (mirror_removes >= 0),
    mirror_may_remove INTEGER NOT NULL CHECK (mirror_may_remove >= 0),
    mirror_failure  TEXT    NOT NULL
) STRICT;
INSERT INTO threads_source_state (id, generation, records, changed_at, mirrored_at, mirror_tried_at, mirror_failing_since, mirror_removes, mirror_may_remove, mirror_failure)
    VALUES (1, 1, 0, 0, 0, 0, 0, 0, 0, '');

-- A cloud site that mappings lead to. Every change to its mappings counts the
-- version up.
CREATE TABLE threads_source_sites (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    url        TEXT    NOT NULL CONSTRAINT threads_source_sites_url UNIQUE,
    version    INTEGER NOT NULL,
    changed_at INTEGER NOT NULL
) STRICT;

-- One entity type of a site, and how many mappings it has.
CREATE TABLE threads_source_kinds (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    site_id     INTEGER NOT NULL REFERENCES threads_source_sites (id),
    entity_type TEXT    NOT NULL,
    mappings    INTEGER NOT NULL CHECK (mappings >= 0),
    CONSTRAINT threads_source_kinds_name UNIQUE (site_id, entity_type)
) STRICT;

CREATE TABLE threads_source_mappings (
    kind_id   INTEGER NOT NULL,
    server_id INTEGER NOT NULL,
    cloud_id  INTEGER NOT NULL,
    PRIMARY KEY (kind_id, server_id)
) STRICT, WITHOUT ROWID;

-- A report of a site's mappings as of a version. The newest of a site is the
-- one that counts; its text is in the chunks.
CREATE TABLE threads_source_reports (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    site_id    INTEGER NOT NULL REFERENCES threads_source_sites (id),
    version    INTEGER NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('making', 'ready', 'failed')),
    invalidate INTEGER NOT NULL CHECK (invalidate IN (0, 1)),
    failure    TEXT    NOT NULL,
    refused    INTEGER NOT NULL CHECK (refused IN (0, 1)),
    size       INTEGER NOT NULL CHECK (size >= 0),
    mappings   INTEGER NOT NULL CHECK (mappings >= 0),
    changed_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX threads_source_reports_making ON threads_source_reports (site_id) WHERE state = 'making';
CREATE INDEX threads_source_reports_site ON threads_source_reports (site_id, id);

CREATE TABLE threads_source_chunks (
    report_id INTEGER NOT NULL REFERENCES threads_source_reports (id),
    number    INTEGER NOT NULL,
    content   BLOB    NOT NULL,
    PRIMARY KEY (report_id, number)
) STRICT;
