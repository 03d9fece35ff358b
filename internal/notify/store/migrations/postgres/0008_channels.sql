-- A channel is a thing of its own: its id outlives its webhook URL. fingerprint is
-- that of the present URL; those of former ones still lead to the channel. kept says
-- that it was named, shared or made by itself, and stays when nothing sends to it.
-- everyone and the shares say who else may choose it, owner_id who made it by itself.
ALTER TABLE notify_channels ADD COLUMN version BIGINT NOT NULL DEFAULT 1 CHECK (version >= 1);
ALTER TABLE notify_channels ADD COLUMN name TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE notify_channels ADD COLUMN format TEXT COLLATE "C" NOT NULL DEFAULT 'auto' CHECK (format IN ('auto', 'teams', 'slack'));
ALTER TABLE notify_channels ADD COLUMN kept BIGINT NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));
ALTER TABLE notify_channels ADD COLUMN everyone BIGINT NOT NULL DEFAULT 0 CHECK (everyone IN (0, 1));
ALTER TABLE notify_channels ADD COLUMN owner_id BIGINT NOT NULL DEFAULT 0;
ALTER TABLE notify_channels ADD COLUMN updated_by TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE notify_channels ADD COLUMN updated_at BIGINT NOT NULL DEFAULT 0;
CREATE INDEX notify_channels_owner ON notify_channels (owner_id) WHERE owner_id > 0;

CREATE TABLE notify_channel_shares (
    channel_id   BIGINT NOT NULL REFERENCES notify_channels (id),
    connection   TEXT COLLATE "C" NOT NULL,
    project_key  TEXT COLLATE "C" NOT NULL,
    project_fold TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (channel_id, connection, project_fold)
);
CREATE INDEX notify_channel_shares_project ON notify_channel_shares (connection, project_fold);

CREATE TABLE notify_channel_fingerprints (
    fingerprint TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    channel_id  BIGINT NOT NULL REFERENCES notify_channels (id),
    replaced_at BIGINT NOT NULL
);
CREATE INDEX notify_channel_fingerprints_channel ON notify_channel_fingerprints (channel_id);
