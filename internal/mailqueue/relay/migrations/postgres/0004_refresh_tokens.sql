-- The refresh token that the provider of the smarthost issued last. configured is
-- the digest of the one that it descends from: another one in the configuration
-- replaces it.
CREATE TABLE relay_refresh_tokens (
    name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    configured TEXT COLLATE "C" NOT NULL,
    token      BYTEA NOT NULL
);
