-- What was told last of the builds of commits, by which the next state of a key
-- is told to be news. posted_at and asked_at are the date of the run, by its build
-- server and by the platform, 0 where it was not said; stood_at since when the
-- state is so; seen_at when it was told.
CREATE TABLE notify_builds (
    connection      TEXT NOT NULL,
    project_fold    TEXT NOT NULL,
    repository_fold TEXT NOT NULL,
    hash            TEXT NOT NULL,
    build_key       TEXT NOT NULL,
    state           TEXT NOT NULL,
    url             TEXT NOT NULL,
    number          TEXT NOT NULL,
    posted_at       INTEGER NOT NULL,
    asked_at        INTEGER NOT NULL,
    stood_at        INTEGER NOT NULL,
    seen_at         INTEGER NOT NULL,
    PRIMARY KEY (connection, project_fold, repository_fold, hash, build_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_builds_seen ON notify_builds (seen_at);
