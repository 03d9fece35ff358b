-- The limits of the smarthost's provider hold for all nodes that sign in alike. A
-- pause is that after an answer that a limit is reached; 0: there is none.
CREATE TABLE relay_limits (
    sign_in      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    paused_until BIGINT NOT NULL,
    paused_for   TEXT COLLATE "C" NOT NULL
);

-- What nodes took of an allowance in the span of so many seconds that begins at
-- a Unix time: messages in spans of 1, recipients in longer ones.
CREATE TABLE relay_spent (
    sign_in TEXT COLLATE "C" NOT NULL,
    span    BIGINT NOT NULL CHECK (span > 0),
    at      BIGINT NOT NULL,
    amount  BIGINT NOT NULL CHECK (amount >= 0),
    PRIMARY KEY (sign_in, span, at)
);
