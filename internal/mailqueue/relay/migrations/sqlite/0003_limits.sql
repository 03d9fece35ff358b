-- The limits of the smarthost's provider hold for all nodes that sign in alike. A
-- pause is that after an answer that a limit is reached; 0: there is none.
CREATE TABLE relay_limits (
    sign_in      TEXT NOT NULL PRIMARY KEY,
    paused_until INTEGER NOT NULL,
    paused_for   TEXT NOT NULL
) STRICT;

-- What nodes took of an allowance in the span of so many seconds that begins at
-- a Unix time: messages in spans of 1, recipients in longer ones.
CREATE TABLE relay_spent (
    sign_in TEXT NOT NULL,
    span    INTEGER NOT NULL CHECK (span > 0),
    at      INTEGER NOT NULL,
    amount  INTEGER NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (sign_in, span, at)
) STRICT;
