-- Two drafts on their way to being chunks. done is in thousandths; inputs says, as
-- JSON, which files they were, once they have been read.
CREATE TABLE threads_stages (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    state        TEXT    NOT NULL CHECK (state IN ('wanted', 'running', 'done', 'failed', 'gone')),
    hierarchy_id INTEGER NOT NULL,
    mappings_id  INTEGER NOT NULL,
    step         TEXT    NOT NULL,
    done         INTEGER NOT NULL CHECK (done >= 0 AND done <= 1000),
    chunks       INTEGER NOT NULL CHECK (chunks >= 0),
    preview      TEXT    NOT NULL,
    inputs       TEXT    NOT NULL,
    message      TEXT    NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;

-- Sorted runs, while a stage runs.
CREATE TABLE threads_stage_pages (
    stage_id INTEGER NOT NULL REFERENCES threads_stages (id),
    run      INTEGER NOT NULL,
    page     INTEGER NOT NULL,
    data     BLOB    NOT NULL,
    PRIMARY KEY (stage_id, run, page)
) STRICT;

-- Whole issues with about 1,000 records, and what the mappings say of them.
CREATE TABLE threads_chunks (
    stage_id INTEGER NOT NULL REFERENCES threads_stages (id),
    number   INTEGER NOT NULL CHECK (number >= 0),
    records  INTEGER NOT NULL CHECK (records > 0),
    errors   INTEGER NOT NULL CHECK (errors >= 0 AND errors <= records),
    data     BLOB    NOT NULL,
    PRIMARY KEY (stage_id, number)
) STRICT;

-- One row: the migration. stage_id is 0 while nothing is loaded. incomplete says
-- what is wrong with the files of its data, a sentence a line; checked that the
-- preflight has passed. refused of the permanent errors are the target's; while
-- they are tried again, retry_chunk and retry_issue say from where on. error_groups
-- counts them by reason and by what the target said, as JSON; worked is how many
-- microseconds processing has taken, pauses left out. While what was written is
-- undone, undone counts issues, and kept those of them that were changed since.
CREATE TABLE threads_migration (
    id              INTEGER PRIMARY KEY CHECK (id = 1),
    epoch           INTEGER NOT NULL,
    phase           TEXT    NOT NULL CHECK (phase IN ('EMPTY', 'LOADING', 'READY', 'PROCESSING', 'PAUSED', 'COMPLETED', 'FAILED', 'CANCELLED')),
    stage_id        INTEGER NOT NULL,
    accept_incomplete INTEGER NOT NULL CHECK (accept_incomplete IN (0, 1)),
    incomplete      TEXT    NOT NULL,
    records         INTEGER NOT NULL CHECK (records >= 0),
    records_done    INTEGER NOT NULL CHECK (records_done >= 0 AND records_done <= records),
    chunks          INTEGER NOT NULL CHECK (chunks >= 0),
    chunks_done     INTEGER NOT NULL CHECK (chunks_done >= 0 AND chunks_done <= chunks),
    issues_in_chunk INTEGER NOT NULL CHECK (issues_in_chunk >= 0),
    issues          INTEGER NOT NULL CHECK (issues >= 0),
    parent_maps     INTEGER NOT NULL CHECK (parent_maps >= 0),
    permanent       INTEGER NOT NULL CHECK (permanent >= 0),
    checked         INTEGER NOT NULL CHECK (checked IN (0, 1)),
    refused         INTEGER NOT NULL CHECK (refused >= 0 AND refused <= permanent),
    retryable       INTEGER NOT NULL CHECK (retryable >= 0),
    retrying        INTEGER NOT NULL CHECK (retrying IN (0, 1)),
    retry_chunk     INTEGER NOT NULL CHECK (retry_chunk >= 0),
    retry_issue     INTEGER NOT NULL CHECK (retry_issue >= 0),
    rate_limits     INTEGER NOT NULL CHECK (rate_limits >= 0),
    failing_since   INTEGER NOT NULL,
    wait_until      INTEGER NOT NULL,
    wait_declared   INTEGER NOT NULL CHECK (wait_declared IN (0, 1)),
    trouble_since   INTEGER NOT NULL,
    trouble         TEXT    NOT NULL,
    started_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    message         TEXT    NOT NULL,
    error_groups    TEXT    NOT NULL,
    worked          INTEGER NOT NULL CHECK (worked >= 0),
    undoing         INTEGER NOT NULL CHECK (undoing IN (0, 1)),
    undone          INTEGER NOT NULL CHECK (undone >= 0),
    kept            INTEGER NOT NULL CHECK (kept >= 0)
) STRICT;
INSERT INTO threads_migration VALUES (1, 1, 'EMPTY', 0, 0, '', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', 0, 0, '', '', 0, 0, 0, 0);

-- What issues had, as a parent map, of the comments that a data set gives parents:
-- by chunk and by place in it, from before the first write on until the data goes
-- or the write is undone. In this database an issue that had nothing has no row.
CREATE TABLE threads_before (
    stage_id INTEGER NOT NULL,
    chunk    INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    parents  TEXT    NOT NULL,
    PRIMARY KEY (stage_id, chunk, place)
) STRICT, WITHOUT ROWID;

-- Where parent maps go: this database, or a cloud site by its URL. version
-- counts up with every transaction that writes maps.
CREATE TABLE threads_targets (
    id      INTEGER PRIMARY KEY AUTOINCREMENT,
    name    TEXT    NOT NULL CONSTRAINT threads_targets_name UNIQUE,
    version INTEGER NOT NULL
) STRICT;

-- The parent map of each issue: for a cloud site, as it was written there. That
-- its target is there need not be checked row by row: no target ever goes.
CREATE TABLE threads_maps (
    target_id INTEGER NOT NULL,
    issue_id  INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    parents   TEXT    NOT NULL,
    PRIMARY KEY (target_id, issue_id)
) STRICT, WITHOUT ROWID;

-- Readers of the maps as they were at a version.
CREATE TABLE threads_snapshots (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    target_id  INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT;

-- Maps that were written over or deleted while a snapshot is read:
-- from one version on, until another.
CREATE TABLE threads_old_maps (
    target_id INTEGER NOT NULL,
    issue_id  INTEGER NOT NULL,
    version   INTEGER NOT NULL,
    until     INTEGER NOT NULL CHECK (until > version),
    parents   TEXT    NOT NULL,
    PRIMARY KEY (target_id, issue_id, version)
) STRICT;

-- What runs beside the migration: a restore, a comparison of target and data.
-- detail is JSON; a job that was given up has no state, and its epoch still counts.
CREATE TABLE threads_jobs (
    name       TEXT    PRIMARY KEY NOT NULL CHECK (name IN ('restore', 'verify')),
    state      TEXT    NOT NULL CHECK (state IN ('', 'running', 'done', 'failed')),
    epoch      INTEGER NOT NULL,
    detail     TEXT    NOT NULL,
    message    TEXT    NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;
