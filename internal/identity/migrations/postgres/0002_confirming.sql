-- Tokens of scope backup.
ALTER TABLE identity_tokens DROP CONSTRAINT identity_tokens_scope_check;
ALTER TABLE identity_tokens ADD CONSTRAINT identity_tokens_scope_check
	CHECK (scope IN ('all', 'read', 'backup', 'monitoring', 'builds', 'mail'));

-- Whether the user signs in once more, to confirm a session.
ALTER TABLE identity_sign_ins ADD COLUMN again BIGINT NOT NULL DEFAULT 0 CHECK (again IN (0, 1));

-- Codes with which users whose provider does not say when they signed in confirm a
-- session, once: one a user.
CREATE TABLE identity_confirm_codes (
	user_id    BIGINT NOT NULL PRIMARY KEY REFERENCES identity_users (id) ON DELETE CASCADE,
	hash       BYTEA NOT NULL, -- SHA-256
	expires_at BIGINT NOT NULL
);
