-- Whether the process that fills this queue has nowhere to send it: mail.smarthost is
-- not set there.
ALTER TABLE relay_queues ADD COLUMN no_smarthost BIGINT NOT NULL DEFAULT 0 CHECK (no_smarthost IN (0, 1));
