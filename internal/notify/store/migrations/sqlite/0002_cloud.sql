-- Accounts of cloud platforms that users let Outrigger use. base_url is that of
-- the platform that gave the tokens; they are sent to no other. tokens counts the
-- pairs of tokens that the account has had: what is written after a refresh names
-- the pair that it was asked with. due_at is when the tokens are refreshed next,
-- 0: not. asked_at is when a refresh began whose outcome is not written yet.
CREATE TABLE notify_authorizations (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    connection    TEXT    NOT NULL,
    account_id    TEXT    NOT NULL,
    account_name  TEXT    NOT NULL,
    base_url      TEXT    NOT NULL,
    user_id       INTEGER NOT NULL,
    authorized_by TEXT    NOT NULL,
    authorized_at INTEGER NOT NULL,
    state         TEXT    NOT NULL CHECK (state IN ('active', 'withdrawn', 'revoked')),
    state_at      INTEGER NOT NULL,
    reason        TEXT    NOT NULL,
    tokens        INTEGER NOT NULL CHECK (tokens >= 1),
    access_token  BLOB,
    refresh_token BLOB,
    expires_at    INTEGER NOT NULL,
    refreshed_at  INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,
    asked_at      INTEGER NOT NULL,
    CONSTRAINT notify_authorizations_account UNIQUE (connection, account_id),
    CHECK (state = 'active' OR due_at = 0)
) STRICT;
CREATE INDEX notify_authorizations_due ON notify_authorizations (due_at) WHERE due_at > 0;
CREATE INDEX notify_authorizations_user ON notify_authorizations (user_id);

-- Requests for an authorisation that are on their way over the platform, by the
-- SHA-256 of their state. session_id is 0 where they were made without a session.
CREATE TABLE notify_authorization_requests (
    state      TEXT    NOT NULL PRIMARY KEY,
    connection TEXT    NOT NULL,
    user_id    INTEGER NOT NULL,
    session_id INTEGER NOT NULL,
    verifier   BLOB    NOT NULL,
    back       TEXT    NOT NULL,
    made_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Where the pull requests of cloud platforms stood when a webhook spoke of them
-- last, by which the next one's update is told. Without source, target and title
-- nothing is known. description is a digest; stood_at when it was so, by the
-- webhook; pushed: its update may yet be told a second time.
CREATE TABLE notify_pull_requests (
    connection      TEXT    NOT NULL,
    project_fold    TEXT    NOT NULL,
    repository_fold TEXT    NOT NULL,
    number          INTEGER NOT NULL,
    source          TEXT    NOT NULL,
    target          TEXT    NOT NULL,
    title           TEXT    NOT NULL,
    description     TEXT    NOT NULL,
    draft           INTEGER NOT NULL CHECK (draft IN (0, 1)),
    pushed          INTEGER NOT NULL CHECK (pushed IN (0, 1)),
    stood_at        INTEGER NOT NULL,
    seen_at         INTEGER NOT NULL,
    PRIMARY KEY (connection, project_fold, repository_fold, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_pull_requests_seen ON notify_pull_requests (seen_at);

-- The webhooks by which repositories of cloud platforms send their events here.
-- set_at is when this program last wrote it, 0 where people keep it;
-- authorization_id is the account that the platform was last asked with.
CREATE TABLE notify_repository_webhooks (
    connection      TEXT NOT NULL,
    project_fold    TEXT NOT NULL,
    repository_fold TEXT NOT NULL,
    state           TEXT NOT NULL CHECK (state IN ('unchecked', 'sends', 'inactive', 'missing', 'unknown', 'unneeded')),
    hook            TEXT NOT NULL,
    remote_id       TEXT NOT NULL,
    reason          TEXT NOT NULL,
    set_at          INTEGER NOT NULL,
    secret_mark     TEXT NOT NULL,
    checked_at      INTEGER NOT NULL,
    authorization_id INTEGER NOT NULL,
    PRIMARY KEY (connection, project_fold, repository_fold)
) STRICT, WITHOUT ROWID;
