-- One row a node that has, or had, a queue. The two sizes are changed in the
-- transaction that changes the messages, so that a count costs one row however
-- many there are. version counts those changes; changes and flushes count what
-- administrators did, on whatever node, for the node that sends.
CREATE TABLE relay_queues (
    node_id    TEXT    NOT NULL PRIMARY KEY,
    size       INTEGER NOT NULL CHECK (size >= 0),
    error_size INTEGER NOT NULL CHECK (error_size >= 0),
    version    INTEGER NOT NULL,
    paused     INTEGER NOT NULL CHECK (paused IN (0, 1)),
    changes    INTEGER NOT NULL,
    flushes    INTEGER NOT NULL,
    held_until INTEGER NOT NULL,
    held_for   TEXT    NOT NULL
) STRICT;

-- recipients is a JSON array of how the message stands with each of them, in
-- the row since a row for each would double what a message costs; waiting and
-- failed count those of that state. A message that has none of either is
-- deleted. A small body stands in the row, compressed; of a larger one parts
-- says how many rows it is in.
CREATE TABLE relay_messages (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    node_id    TEXT    NOT NULL,
    sender     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    message_id TEXT    NOT NULL,
    trace      TEXT    NOT NULL,
    recipients TEXT    NOT NULL,
    size       INTEGER NOT NULL CHECK (size >= 0),
    eight_bit  INTEGER NOT NULL CHECK (eight_bit IN (0, 1)),
    utf8       INTEGER NOT NULL CHECK (utf8 IN (0, 1)),
    open_end   INTEGER NOT NULL CHECK (open_end IN (0, 1)),
    queued_at  INTEGER NOT NULL,
    due_at     INTEGER NOT NULL,
    failed_at  INTEGER NOT NULL,
    waiting    INTEGER NOT NULL CHECK (waiting >= 0),
    failed     INTEGER NOT NULL CHECK (failed >= 0),
    parts      INTEGER NOT NULL CHECK (parts >= 0),
    body       BLOB    NOT NULL,
    CHECK (waiting + failed > 0)
) STRICT;
CREATE INDEX relay_messages_due ON relay_messages (node_id, due_at, id) WHERE waiting > 0;
CREATE INDEX relay_messages_waiting ON relay_messages (node_id, id) WHERE waiting > 0;
CREATE INDEX relay_messages_failed ON relay_messages (node_id, id) WHERE failed > 0;
CREATE INDEX relay_messages_forget ON relay_messages (failed_at, id) WHERE failed > 0 AND waiting = 0;

-- recipients is a JSON array of the addresses that an attempt was about. This
-- table and the next have no foreign keys: a check a row costs more than the
-- row. A message is deleted with what belongs to it in one place.
CREATE TABLE relay_attempts (
    message_id INTEGER NOT NULL,
    number     INTEGER NOT NULL CHECK (number >= 1),
    node_id    TEXT    NOT NULL,
    recipients TEXT    NOT NULL,
    at         INTEGER NOT NULL,
    took       INTEGER NOT NULL,
    status     INTEGER NOT NULL,
    answer     TEXT    NOT NULL,
    error      TEXT    NOT NULL,
    PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE relay_parts (
    message_id INTEGER NOT NULL,
    n          INTEGER NOT NULL CHECK (n >= 0),
    data       BLOB    NOT NULL,
    PRIMARY KEY (message_id, n)
) STRICT;
