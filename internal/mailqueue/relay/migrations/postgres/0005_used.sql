-- Whether a message has ever been in this queue: the first steps of the overview end then.
ALTER TABLE relay_queues ADD COLUMN used BIGINT NOT NULL DEFAULT 0 CHECK (used IN (0, 1));
