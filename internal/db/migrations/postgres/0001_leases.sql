-- What must happen once in the cluster: who holds it, and until when by the
-- database's clock. Rows stay, since a fence must never be used twice.
CREATE TABLE leases (
	name       TEXT COLLATE "C" NOT NULL PRIMARY KEY,
	owner      TEXT COLLATE "C" NOT NULL, -- '' when nobody holds it
	fence      BIGINT NOT NULL CHECK (fence > 0),
	expires_at BIGINT NOT NULL
);
CREATE INDEX leases_owner ON leases (owner);
