-- Whether a delivery was put back into the queue for its channel itself, because the
-- rules or the report that it was for are deleted: to the channel and in the format
-- that it has. The columns rule_id and rules still say what it was for.
ALTER TABLE notify_deliveries ADD COLUMN to_channel BIGINT NOT NULL DEFAULT 0 CHECK (to_channel IN (0, 1));
