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
	subject          TEXT NOT NULL, -- the provider's id of the account that signs in; '' for whom none does
	claimed_until    INTEGER NOT NULL, -- how long the groups count that the provider named at the last sign-in
	UNIQUE (source, name_key)
) STRICT;

-- To a user, or to a group of single sign-on.
CREATE TABLE identity_grants (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id    INTEGER REFERENCES identity_users (id) ON DELETE CASCADE, -- null for a group's
	group_name TEXT NOT NULL, -- '' for a user's
	permission TEXT NOT NULL CHECK (permission IN ('SYS_ADMIN', 'ADMIN', 'PROJECT_ADMIN', 'REPO_ADMIN')),
	connection TEXT NOT NULL,
	project    TEXT NOT NULL,
	repository TEXT NOT NULL,
	granted_at INTEGER NOT NULL,
	UNIQUE (user_id, permission, connection, project, repository),
	CHECK ((connection <> '') = (permission IN ('PROJECT_ADMIN', 'REPO_ADMIN'))),
	CHECK ((project <> '') = (permission IN ('PROJECT_ADMIN', 'REPO_ADMIN'))),
	CHECK ((repository <> '') = (permission = 'REPO_ADMIN')),
	CHECK ((user_id IS NULL) = (group_name <> '')),
	CHECK (permission <> 'SYS_ADMIN' OR group_name = '')
) STRICT;
-- What is unique above leaves out rows whose user is null.
CREATE UNIQUE INDEX identity_grants_group ON identity_grants (group_name, permission, connection, project, repository) WHERE user_id IS NULL;

-- The groups that the provider named at the users' last sign-ins. They count
-- until identity_users.claimed_until.
CREATE TABLE identity_members (
	user_id INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	name    TEXT NOT NULL, -- of the group
	since   INTEGER NOT NULL, -- the first of the sign-ins, without a gap, that named it
	PRIMARY KEY (user_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX identity_members_name ON identity_members (name, user_id);

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
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id      INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	hash         BLOB NOT NULL UNIQUE, -- SHA-256
	address      TEXT NOT NULL,
	browser      TEXT NOT NULL, -- as people call it; '' where it is not known
	created_at   INTEGER NOT NULL,
	used_at      INTEGER NOT NULL,
	expires_at   INTEGER NOT NULL,
	confirmed_at INTEGER NOT NULL -- when the user last showed the password or a second factor
) STRICT;
CREATE INDEX identity_sessions_user ON identity_sessions (user_id, id);

-- Sign-ins that were begun here, while the browser is on the provider's pages.
CREATE TABLE identity_sign_ins (
	state      BLOB NOT NULL PRIMARY KEY, -- SHA-256
	way        TEXT NOT NULL,
	browser    BLOB NOT NULL, -- SHA-256 of the cookie
	back       TEXT NOT NULL, -- the page to go on to
	address    TEXT NOT NULL,
	made_at    INTEGER NOT NULL,
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX identity_sign_ins_address ON identity_sign_ins (address, made_at);
CREATE INDEX identity_sign_ins_expires ON identity_sign_ins (expires_at);

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

-- Authenticator apps, one a user.
CREATE TABLE identity_totp (
	user_id      INTEGER NOT NULL PRIMARY KEY REFERENCES identity_users (id) ON DELETE CASCADE,
	secret       BLOB NOT NULL, -- sealed; empty: its key is lost, and no code is right
	created_at   INTEGER NOT NULL,
	confirmed_at INTEGER NOT NULL, -- 0: shown, and no code entered yet: not a factor yet
	last_step    INTEGER NOT NULL -- of the last code that was accepted: neither it nor an older one is accepted again
) STRICT;

-- Codes that work once in place of a second factor.
CREATE TABLE identity_recovery_codes (
	user_id INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	hash    BLOB NOT NULL, -- SHA-256
	PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE identity_passkeys (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	user_id       INTEGER NOT NULL REFERENCES identity_users (id) ON DELETE CASCADE,
	credential_id BLOB NOT NULL UNIQUE,
	credential    BLOB NOT NULL, -- JSON: the public key, flags, the sign counter
	name          TEXT NOT NULL,
	created_at    INTEGER NOT NULL,
	used_at       INTEGER NOT NULL -- 0 is never
) STRICT;
CREATE INDEX identity_passkeys_user ON identity_passkeys (user_id, id);

-- What was begun and waits for its second step: sign-ins, uses and
-- registrations of passkeys.
CREATE TABLE identity_steps (
	hash       BLOB NOT NULL PRIMARY KEY, -- SHA-256 of what the browser keeps
	purpose    TEXT NOT NULL CHECK (purpose IN ('factor', 'passkey', 'register', 'confirm')),
	user_id    INTEGER REFERENCES identity_users (id) ON DELETE CASCADE, -- null: the passkey will say who signs in
	session_id INTEGER NOT NULL, -- in which it was begun; 0: in none
	address    TEXT NOT NULL,
	challenge  BLOB NOT NULL, -- JSON: what a passkey has to sign; empty for none
	tries      INTEGER NOT NULL CHECK (tries >= 0),
	expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX identity_steps_expires ON identity_steps (expires_at);
CREATE INDEX identity_steps_user ON identity_steps (user_id);
CREATE INDEX identity_steps_address ON identity_steps (address, expires_at);
