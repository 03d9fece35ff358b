-- The issues that undoing the migration has left as they are, or in part, by their
-- places in the data: what others changed, and what the target forbids or does not
-- show. answer is what the target said, as JSON. They stay until the next data, a
-- reset, or another undoing.
CREATE TABLE threads_undo_left (
    chunk          BIGINT NOT NULL,
    place          BIGINT NOT NULL,
    issue_id       BIGINT NOT NULL,
    cloud_issue_id BIGINT NOT NULL,
    reason         TEXT COLLATE "C" NOT NULL,
    answer         TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (chunk, place)
);
