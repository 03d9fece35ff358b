-- Users. Ids are never used twice: tokens, sessions and caches go by them.
CREATE TABLE identity_users (
	id               INTEGER PRIMARY KEY AUTOINCREMENT,
	source           TEXT NOT NULL, -- 'local', or the connection whose platform knows them
	name             TEXT NOT NULL, -- as it was typed
	name_key         TEXT NOT NULL, -- as it is compared
	password         TEXT NOT NULL, -- argon2id in PHC form; '' for whom a platform knows
	initial_password INTEGER NOT NULL CHECK (initial_password IN (0, 1)), -- the one that the first start generated
	created_at       INTEGER NOT NULL,
	password_at      INTEGER NOT NULL,
	signed_in_at     INTEGER NOT NULL, -- 0 is never
	disabled_at      INTEGER NOT NULL, -- 0 is enabled
	UNIQUE (source, name_key)
) STRICT;

CREATE TABLE identity_grants (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id    INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	permission TEXT NOT NULL CHECK (permission IN ('SYS_ADMIN', 'ADMIN', 'PROJECT_ADMIN', 'REPO_ADMIN')),
	connection TEXT NOT NULL,
	project    TEXT NOT NULL,
	repository TEXT NOT NULL,
	granted_at INTEGER NOT NULL,
	UNIQUE (user_id, permission, connection, project, repository),
	CHECK ((connection <> '') = (permission IN ('PROJECT_ADMIN', 'REPO_ADMIN'))),
	CHECK ((project <> '') = (permission IN ('PROJECT_ADMIN', 'REPO_ADMIN'))),
	CHECK ((repository <> '') = (permission = 'REPO_ADMIN'))
) STRICT;

-- Where the platform said, at the last sign-in of one of its users, that he
-- administers: what it is asked about again before it counts.
CREATE TABLE identity_candidates (
	user_id    INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	permission TEXT NOT NULL CHECK (permission IN ('PROJECT_ADMIN', 'REPO_ADMIN')),
	project    TEXT NOT NULL,
	repository TEXT NOT NULL, -- '' for a project
	PRIMARY KEY (user_id, permission, project, repository),
	CHECK ((repository <> '') = (permission = 'REPO_ADMIN'))
) STRICT, WITHOUT ROWID;

CREATE TABLE identity_tokens (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id    INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	name       TEXT NOT NULL,
	scope      TEXT NOT NULL CHECK (scope IN ('all', 'read', 'monitoring', 'builds', 'mail')),
	hash       BLOB NOT NULL UNIQUE, -- SHA-256
	created_at INTEGER NOT NULL,
	expires_at INTEGER NOT NULL, -- 0 is never
	used_at    INTEGER NOT NULL  -- 0 is never
) STRICT;
CREATE INDEX identity_tokens_user ON identity_tokens (user_id, id);

CREATE TABLE identity_sessions (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id    INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	hash       BLOB NOT NULL UNIQUE, -- SHA-256
	address    TEXT NOT NULL,
	browser    TEXT NOT NULL, -- as people call it; '' where it is not known
	created_at INTEGER NOT NULL,
	used_at    INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX identity_sessions_user ON identity_sessions (user_id, id);

-- Failed sign-ins of the last hour: of an account from an address, of an
-- address, of an account.
CREATE TABLE identity_failures (
	counter BLOB NOT NULL PRIMARY KEY, -- SHA-256 of what is counted
	times   BLOB NOT NULL, -- the last failures, 8 bytes each
	until   INTEGER NOT NULL, -- no attempt before
	pauses  INTEGER NOT NULL CHECK (pauses >= 0),
	last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX identity_failures_last ON identity_failures (last_at);

-- Where users have signed in from, within 30 days.
CREATE TABLE identity_addresses (
	user_id      INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	address      TEXT NOT NULL,
	signed_in_at INTEGER NOT NULL,
	PRIMARY KEY (user_id, address)
) STRICT, WITHOUT ROWID;
