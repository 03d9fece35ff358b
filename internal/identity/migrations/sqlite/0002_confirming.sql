-- Tokens of scope backup. A CHECK cannot be changed: the table is made again, with
-- the highest id that was ever given, since ids are never used twice.
CREATE TABLE identity_tokens_made (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id    INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	name       TEXT NOT NULL,
	scope      TEXT NOT NULL CHECK (scope IN ('all', 'read', 'backup', 'monitoring', 'builds', 'mail')),
	hash       BLOB NOT NULL UNIQUE, -- SHA-256
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL, -- 0 is never
	used_at    INTEGER NOT NULL  -- 0 is never
) STRICT;
INSERT INTO identity_tokens_made (id, user_id, name, scope, hash, created_at, expires_at, used_at)
	SELECT id, user_id, name, scope, hash, created_at, expires_at, used_at FROM identity_tokens;
DELETE FROM sqlite_sequence WHERE name = 'identity_tokens_made';
INSERT INTO sqlite_sequence (name, seq) SELECT 'identity_tokens_made', seq FROM sqlite_sequence WHERE name = 'identity_tokens';
DROP TABLE identity_tokens;
ALTER TABLE identity_tokens_made RENAME TO identity_tokens;
CREATE INDEX identity_tokens_user ON identity_tokens (user_id, id);

-- Whether the user signs in once more, to confirm a session.
ALTER TABLE identity_sign_ins ADD COLUMN again INTEGER NOT NULL DEFAULT 0 CHECK (again IN (0, 1));

-- Codes with which users whose provider does not say when they signed in confirm a
-- session, once: one a user.
CREATE TABLE identity_confirm_codes (
	user_id    INTEGER NOT NULL PRIMARY KEY REFERENCES identity_users (id) ON DELETE CASCADE,
	hash       BLOB NOT NULL, -- SHA-256
	expires_at INTEGER NOT NULL
) STRICT;
