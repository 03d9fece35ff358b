-- Webhook URLs are kept once, encrypted; a channel is such a URL.
CREATE TABLE notify_channels (
    id           INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint  TEXT    NOT NULL CONSTRAINT notify_channels_fingerprint UNIQUE,
    url          BLOB    NOT NULL,
    host         TEXT    NOT NULL,
    mask         TEXT    NOT NULL,
    state        TEXT    NOT NULL CHECK (state IN ('open', 'broken')),
    reason       TEXT    NOT NULL,
    broken_at    INTEGER NOT NULL,
    gate_until   INTEGER NOT NULL,
    gate_step    INTEGER NOT NULL CHECK (gate_step >= 0),
    gate_reason  TEXT    NOT NULL,
    rejected     INTEGER NOT NULL CHECK (rejected >= 0),
    refused      INTEGER NOT NULL CHECK (refused >= 0),
    suspect      INTEGER NOT NULL,
    failing_since INTEGER NOT NULL,
    last_ok_at   INTEGER NOT NULL,
    created_at   INTEGER NOT NULL
) STRICT;
CREATE INDEX notify_channels_trouble ON notify_channels (id) WHERE state = 'broken' OR failing_since > 0;

CREATE TABLE notify_rules (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    version        INTEGER NOT NULL CHECK (version >= 1),
    name           TEXT    NOT NULL,
    connection     TEXT    NOT NULL,
    project_key    TEXT    NOT NULL,
    repository_key TEXT    NOT NULL,
    project_fold   TEXT    NOT NULL,
    repository_fold TEXT   NOT NULL,
    channel_id     INTEGER NOT NULL REFERENCES notify_channels (id),
    channel_name   TEXT    NOT NULL,
    format         TEXT    NOT NULL CHECK (format IN ('auto', 'teams', 'slack')),
    filter         TEXT    NOT NULL,
    options        TEXT    NOT NULL,
    enabled        INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    authorization_id INTEGER NOT NULL,
    paused         INTEGER NOT NULL CHECK (paused IN (0, 1)),
    created_by     TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_by     TEXT    NOT NULL,
    updated_at     INTEGER NOT NULL,
    since          INTEGER NOT NULL,
    CHECK (project_key <> '' OR repository_key = '')
) STRICT;
CREATE INDEX notify_rules_keys ON notify_rules (project_fold, repository_fold);
CREATE INDEX notify_rules_channel ON notify_rules (channel_id);
CREATE INDEX notify_rules_name ON notify_rules (name, id);
CREATE INDEX notify_rules_authorization ON notify_rules (authorization_id) WHERE authorization_id <> 0;

-- What rules were before their last change, for as long as there are events that
-- were judged by it. A row held for the generations from since up to, and
-- without, until; the present state of a rule is in notify_rules and holds from
-- its since on.
CREATE TABLE notify_rule_versions (
    id             INTEGER PRIMARY KEY AUTOINCREMENT,
    rule_id        INTEGER NOT NULL,
    version        INTEGER NOT NULL,
    name           TEXT    NOT NULL,
    connection     TEXT    NOT NULL,
    project_key    TEXT    NOT NULL,
    repository_key TEXT    NOT NULL,
    project_fold   TEXT    NOT NULL,
    repository_fold TEXT    NOT NULL,
    channel_id     INTEGER NOT NULL,
    channel_name   TEXT    NOT NULL,
    format         TEXT    NOT NULL,
    filter         TEXT    NOT NULL,
    options        TEXT    NOT NULL,
    enabled        INTEGER NOT NULL,
    authorization_id INTEGER NOT NULL,
    paused         INTEGER NOT NULL,
    created_by     TEXT    NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_by     TEXT    NOT NULL,
    updated_at     INTEGER NOT NULL,
    since          INTEGER NOT NULL,
    until          INTEGER NOT NULL,
    ended_at       INTEGER NOT NULL,
    ended_by       TEXT    NOT NULL
) STRICT;
CREATE INDEX notify_rule_versions_keys ON notify_rule_versions (project_fold, repository_fold, until);

-- One row. Every save of a rule counts generation up; the commit of an event
-- looks whether it was matched against the present one. platforms counts the
-- changes of connections, hooks and offered renames, which are among them.
CREATE TABLE notify_generation (
    id         INTEGER PRIMARY KEY CHECK (id = 1),
    generation INTEGER NOT NULL,
    platforms  INTEGER NOT NULL
) STRICT;
INSERT INTO notify_generation (id, generation, platforms) VALUES (1, 1, 1);

-- Connections that the configuration file does not declare.
CREATE TABLE notify_connections (
    name       TEXT NOT NULL PRIMARY KEY,
    version    INTEGER NOT NULL CHECK (version >= 1),
    kind       TEXT NOT NULL,
    base_url   TEXT NOT NULL,
    server_at  INTEGER NOT NULL, -- since when scheme, host and port of base_url are these
    user_name  TEXT NOT NULL,
    token      BLOB,
    manage_webhooks INTEGER NOT NULL CHECK (manage_webhooks IN (0, 1)),
    oauth_client_id TEXT NOT NULL,
    oauth_client_secret BLOB,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT;

-- Hooks of connections, also of those that the file declares. The name '' is
-- the connection's own hook, of scope all.
CREATE TABLE notify_hooks (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    connection      TEXT NOT NULL,
    name            TEXT NOT NULL,
    project_key     TEXT NOT NULL,
    repository_key  TEXT NOT NULL,
    project_fold    TEXT NOT NULL,
    repository_fold TEXT NOT NULL,
    secret          BLOB NOT NULL,
    previous        BLOB,
    previous_until  INTEGER NOT NULL,
    created_by      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    rotated_by      TEXT NOT NULL,
    rotated_at      INTEGER NOT NULL,
    CONSTRAINT notify_hooks_name UNIQUE (connection, name),
    CHECK (project_key <> '' OR repository_key = '')
) STRICT;

-- Renames that a webhook said and that wait for an administrator's word. A hook
-- has one of each old key at a time; that with another new key replaces it.
CREATE TABLE notify_renames (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    connection      TEXT NOT NULL,
    hook_id         INTEGER NOT NULL,
    hook            TEXT NOT NULL,
    from_project    TEXT NOT NULL,
    from_repository TEXT NOT NULL,
    from_fold       TEXT NOT NULL,
    to_project      TEXT NOT NULL,
    to_repository   TEXT NOT NULL,
    reason          TEXT NOT NULL CHECK (reason IN ('scope', 'occupied', 'grants')),
    state           TEXT NOT NULL CHECK (state IN ('offered', 'confirmed', 'dismissed', 'replaced')),
    offered_at      INTEGER NOT NULL,
    decided_by      TEXT NOT NULL,
    decided_at      INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notify_renames_offered ON notify_renames (connection, hook_id, from_fold) WHERE state = 'offered';

-- One row an event, and one a webhook that held none (silent, unknown, not
-- understood); and one for what an activity report said, which no webhook brought.
-- request_id and fingerprint, by which a webhook that comes again is found, stand
-- on its first row.
-- generation is that of the rules that judged the event. rules is how many of
-- them took it, needed how many deliveries are kept, and delivery the first id
-- that they may have; 0: it had none.
-- Where an event writes a check has no IN: of a list of more than two SQLite
-- makes a table each time.
CREATE TABLE notify_events (
    id             INTEGER PRIMARY KEY,
    connection     TEXT    NOT NULL,
    hook           TEXT    NOT NULL,
    event_key      TEXT    NOT NULL,
    request_id     TEXT,
    fingerprint    BLOB,
    received_at    INTEGER NOT NULL,
    outcome        TEXT    NOT NULL CHECK (outcome = 'understood' OR outcome = 'silent'
                       OR outcome = 'unknown' OR outcome = 'not_understood' OR outcome = 'report'),
    reason         TEXT    NOT NULL,
    project_key    TEXT    NOT NULL,
    repository_key TEXT    NOT NULL,
    generation     INTEGER NOT NULL,
    rules          INTEGER NOT NULL,
    delivery       INTEGER NOT NULL,
    needed         INTEGER NOT NULL CHECK (needed >= 0),
    event          BLOB,
    body           BLOB
) STRICT;
CREATE UNIQUE INDEX notify_events_fingerprint ON notify_events (fingerprint) WHERE fingerprint IS NOT NULL;
CREATE INDEX notify_events_not_understood ON notify_events (received_at) WHERE outcome = 'not_understood';
CREATE INDEX notify_events_unused ON notify_events (id) WHERE needed = 0;

-- What a delivery is for is a rule by its id, or an activity report by its id
-- below zero: that is what rule_id and rules hold.
--
-- The three tables that every event writes to have no foreign keys: a check a
-- row costs PostgreSQL more than the row. For the same reason what most
-- deliveries have once, a rule and an attempt, stands in the delivery itself.
--
-- queued_at is when a delivery was put back into the queue by hand, 0 where it
-- waits since created_at. due_at is when one that was set aside is tried again,
-- beside the queue, and beside how often it was; both are 0 in the queue. batch
-- names the digest that a delivery is sent in, by the id of its first; 0: none.
-- held_until is when the quiet hours of its rules end, for one that came in them,
-- also after that; 0: none did.
-- note says what of its rules could not be asked, so that it is sent without.
CREATE TABLE notify_deliveries (
    id          INTEGER PRIMARY KEY,
    event_id    INTEGER NOT NULL,
    channel_id  INTEGER NOT NULL,
    format      TEXT    NOT NULL CHECK (format IN ('teams', 'slack')),
    rule_id     INTEGER NOT NULL,
    rules       TEXT    NOT NULL,
    state       TEXT    NOT NULL CHECK (state = 'waiting' OR state = 'delivered' OR state = 'deciding'
                    OR state = 'failed' OR state = 'cancelled'),
    reason      TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    attempts    INTEGER NOT NULL CHECK (attempts >= 0),
    errors_5xx  INTEGER NOT NULL CHECK (errors_5xx >= 0),
    created_at  INTEGER NOT NULL,
    queued_at   INTEGER NOT NULL,
    due_at      INTEGER NOT NULL,
    beside      INTEGER NOT NULL CHECK (beside >= 0),
    batch       INTEGER NOT NULL,
    held_until  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL,
    took        INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    answer      TEXT    NOT NULL
) STRICT;
CREATE INDEX notify_deliveries_rule ON notify_deliveries (rule_id, id);
CREATE INDEX notify_deliveries_live ON notify_deliveries (channel_id, id) WHERE finished_at = 0;
CREATE INDEX notify_deliveries_aside ON notify_deliveries (channel_id, due_at) WHERE due_at > 0;
CREATE INDEX notify_deliveries_held ON notify_deliveries (channel_id, held_until) WHERE held_until > 0 AND finished_at = 0;
CREATE INDEX notify_deliveries_put_back ON notify_deliveries (queued_at) WHERE queued_at > 0 AND finished_at = 0;
CREATE INDEX notify_deliveries_batch ON notify_deliveries (batch, id) WHERE batch > 0;
CREATE INDEX notify_deliveries_failed ON notify_deliveries (id) WHERE state = 'failed';
CREATE INDEX notify_deliveries_cancelled ON notify_deliveries (id) WHERE state = 'cancelled';

-- The second and further rules of a delivery; the first is its rule_id.
CREATE TABLE notify_delivery_rules (
    rule_id     INTEGER NOT NULL,
    delivery_id INTEGER NOT NULL,
    PRIMARY KEY (rule_id, delivery_id)
) STRICT, WITHOUT ROWID;

-- Attempts that did not deliver; the one that did is took, status and answer
-- of the delivery.
CREATE TABLE notify_attempts (
    delivery_id INTEGER NOT NULL,
    number      INTEGER NOT NULL CHECK (number >= 1),
    at          INTEGER NOT NULL,
    took        INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    answer      TEXT    NOT NULL,
    error       TEXT    NOT NULL,
    PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

-- What platforms answered about who is in which group; names are folded.
CREATE TABLE notify_memberships (
    connection TEXT NOT NULL,
    group_name TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    member     INTEGER NOT NULL CHECK (member IN (0, 1)),
    asked_at   INTEGER NOT NULL,
    PRIMARY KEY (connection, group_name, user_name)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_memberships_asked ON notify_memberships (asked_at);

-- Commits that events named, in repositories of which rules take builds. due_at
-- is when the platform is asked for builds next, 0 where it is not.
CREATE TABLE notify_commits (
    connection      TEXT NOT NULL,
    hash            TEXT NOT NULL,
    project_key     TEXT NOT NULL,
    repository_key  TEXT NOT NULL,
    project_fold    TEXT NOT NULL,
    repository_fold TEXT NOT NULL,
    branch          TEXT NOT NULL,
    named_at        INTEGER NOT NULL,
    due_at          INTEGER NOT NULL,
    asked           INTEGER NOT NULL CHECK (asked >= 0),
    PRIMARY KEY (connection, hash, project_fold, repository_fold)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_commits_due ON notify_commits (due_at) WHERE due_at > 0;
CREATE INDEX notify_commits_named ON notify_commits (named_at);

-- The rules of an event that could not be decided before it was acknowledged, and
-- what was decided then: as long as the event.
CREATE TABLE notify_decisions (
    event_id    INTEGER NOT NULL,
    rule_id     INTEGER NOT NULL,
    delivery_id INTEGER NOT NULL,
    decision    TEXT    NOT NULL CHECK (decision IN ('undecided', 'taken', 'refused')),
    member      TEXT    NOT NULL,
    note        TEXT    NOT NULL,
    decided_at  INTEGER NOT NULL,
    PRIMARY KEY (event_id, rule_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notify_decisions_undecided ON notify_decisions (delivery_id) WHERE decision = 'undecided';

-- Masks of rules that took too many steps. fingerprint is of the pattern that
-- did: it counts while it is still the rule's.
CREATE TABLE notify_mask_failures (
    rule_id     INTEGER NOT NULL REFERENCES notify_rules (id) ON DELETE CASCADE,
    member      TEXT    NOT NULL,
    fingerprint TEXT    NOT NULL,
    times       INTEGER NOT NULL CHECK (times >= 1),
    error       TEXT    NOT NULL,
    failed_at   INTEGER NOT NULL,
    PRIMARY KEY (rule_id, member)
) STRICT, WITHOUT ROWID;

-- The projects of platforms, and the webhook by which the events of each come
-- here. set_at is when this program last wrote it, 0 where people keep it;
-- checked_at is 0 where it is to be looked at next.
CREATE TABLE notify_webhooks (
    connection   TEXT NOT NULL,
    project_fold TEXT NOT NULL,
    project_key  TEXT NOT NULL,
    project_name TEXT NOT NULL,
    seen_at      INTEGER NOT NULL,
    project_id   INTEGER NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('unchecked', 'sends', 'inactive', 'missing', 'unknown')),
    hook         TEXT NOT NULL,
    remote_id    INTEGER NOT NULL,
    successes    INTEGER NOT NULL,
    failures     INTEGER NOT NULL,
    last_success INTEGER NOT NULL,
    last_failure INTEGER NOT NULL,
    answer       TEXT NOT NULL,
    reason       TEXT NOT NULL,
    set_at       INTEGER NOT NULL,
    secret_mark  TEXT NOT NULL,
    checked_at   INTEGER NOT NULL,
    PRIMARY KEY (connection, project_fold)
) STRICT, WITHOUT ROWID;

-- When the projects of a connection were listed, and tried to be.
CREATE TABLE notify_project_checks (
    connection TEXT NOT NULL PRIMARY KEY,
    tried_at   INTEGER NOT NULL,
    listed_at  INTEGER NOT NULL,
    reason     TEXT NOT NULL
) STRICT;

-- Who users of a platform are in the chats, for mentions.
CREATE TABLE notify_chat_accounts (
    connection TEXT NOT NULL,
    user_fold  TEXT NOT NULL,
    user_name  TEXT NOT NULL,
    teams      TEXT NOT NULL,
    slack      TEXT NOT NULL,
    updated_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (connection, user_fold),
    CHECK (teams <> '' OR slack <> '')
) STRICT, WITHOUT ROWID;

-- Webhooks of known connections that were refused: how many in the hour that
-- began at hour, when the first came, and what is known of the last one.
CREATE TABLE notify_refusals (
    connection TEXT NOT NULL,
    hook       TEXT NOT NULL,
    reason     TEXT NOT NULL CHECK (reason IN ('signature', 'no_secret', 'scope', 'body', 'unknown_hook')),
    hour       INTEGER NOT NULL,
    times      INTEGER NOT NULL CHECK (times >= 1),
    first_at   INTEGER NOT NULL,
    last_at    INTEGER NOT NULL,
    last_by    TEXT NOT NULL,
    message    TEXT NOT NULL,
    PRIMARY KEY (connection, hook, reason, hour)
) STRICT, WITHOUT ROWID;

-- What a node delivered and could not deliver since its sample before, and what
-- waited then.
CREATE TABLE notify_samples (
    node_id   TEXT NOT NULL,
    at        INTEGER NOT NULL,
    delivered INTEGER NOT NULL CHECK (delivered >= 0),
    failed    INTEGER NOT NULL CHECK (failed >= 0),
    waiting   INTEGER NOT NULL CHECK (waiting >= 0),
    PRIMARY KEY (node_id, at)
) STRICT;
CREATE INDEX notify_samples_at ON notify_samples (at);
