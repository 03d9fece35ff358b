-- Whether a channel is shared, or was: those with whom it was shared may have the only
-- rules that are left on it, and do not change it for that.
ALTER TABLE notify_channels ADD COLUMN was_shared INTEGER NOT NULL DEFAULT 0 CHECK (was_shared IN (0, 1));
UPDATE notify_channels SET was_shared = 1
    WHERE everyone = 1 OR EXISTS (SELECT 1 FROM notify_channel_shares s WHERE s.channel_id = notify_channels.id);
