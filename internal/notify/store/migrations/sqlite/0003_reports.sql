-- Activity reports. ask_at is when the platform is asked next: at the due time
-- next_run_at, or a minute after it did not answer; both are 0 while the report is
-- disabled. failing_since is since when the platform has not answered for that due
-- time; 0: it has. error is why the last run brought no message; '': it did.
CREATE TABLE notify_reports (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    version        INTEGER NOT NULL CHECK (version >= 1),
    name           TEXT    NOT NULL,
    connection     TEXT    NOT NULL,
    project_key    TEXT    NOT NULL CHECK (project_key <> ''),
    repository_key TEXT    NOT NULL CHECK (repository_key <> ''),
    project_fold   TEXT    NOT NULL,
    repository_fold TEXT   NOT NULL,
    channel_id     INTEGER NOT NULL REFERENCES notify_channels (id),
    channel_name   TEXT    NOT NULL,
    format         TEXT    NOT NULL CHECK (format IN ('auto', 'teams', 'slack')),
    inactivity_days INTEGER NOT NULL CHECK (inactivity_days BETWEEN 1 AND 365),
    frequency      TEXT    NOT NULL CHECK (frequency IN ('DAILY', 'WEEKLY', 'WORKING_DAY')),
    day            TEXT    NOT NULL,
    time           TEXT    NOT NULL,
    time_zone      TEXT    NOT NULL,
    skip_drafts    INTEGER NOT NULL CHECK (skip_drafts IN (0, 1)),
    target_mask    TEXT    NOT NULL,
    mention_reviewers INTEGER NOT NULL CHECK (mention_reviewers IN (0, 1)),
    enabled        INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    next_run_at    INTEGER NOT NULL,
    ask_at         INTEGER NOT NULL,
    failing_since  INTEGER NOT NULL,
    last_run_at    INTEGER NOT NULL,
    error          TEXT    NOT NULL,
    error_at       INTEGER NOT NULL,
    created_by     TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_by     TEXT    NOT NULL,
    updated_by_id  INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    CHECK ((frequency = 'WEEKLY') = (day <> ''))
) STRICT;
CREATE INDEX notify_reports_keys ON notify_reports (project_fold, repository_fold);
CREATE INDEX notify_reports_channel ON notify_reports (channel_id);
CREATE INDEX notify_reports_ask ON notify_reports (ask_at) WHERE ask_at > 0;
CREATE INDEX notify_reports_failing ON notify_reports (error_at) WHERE error_at > 0;

-- One row for each due time that was run for, with the delivery that the run
-- made, or the error that it ended in: 0 and ''.
CREATE TABLE notify_report_runs (
    report_id   INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    ended_at    INTEGER NOT NULL,
    delivery_id INTEGER NOT NULL,
    error       TEXT    NOT NULL,
    PRIMARY KEY (report_id, due_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_report_runs_ended ON notify_report_runs (ended_at);
