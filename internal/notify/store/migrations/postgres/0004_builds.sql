-- What was told last of the builds of commits, by which the next state of a key
-- is told to be news. posted_at and asked_at are the date of the run, by its build
-- server and by the platform, 0 where it was not said; stood_at since when the
-- state is so; seen_at when it was told.
CREATE TABLE notify_builds (
    connection      TEXT COLLATE "C" NOT NULL,
    project_fold    TEXT COLLATE "C" NOT NULL,
    repository_fold TEXT COLLATE "C" NOT NULL,
    hash            TEXT COLLATE "C" NOT NULL,
    build_key       TEXT COLLATE "C" NOT NULL,
    state           TEXT COLLATE "C" NOT NULL,
    url             TEXT COLLATE "C" NOT NULL,
    number          TEXT COLLATE "C" NOT NULL,
    posted_at       BIGINT NOT NULL,
    asked_at        BIGINT NOT NULL,
    stood_at        BIGINT NOT NULL,
    seen_at         BIGINT NOT NULL,
    PRIMARY KEY (connection, project_fold, repository_fold, hash, build_key)
);
CREATE INDEX notify_builds_seen ON notify_builds (seen_at);
