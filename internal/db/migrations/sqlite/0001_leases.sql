-- What must happen once in the cluster: who holds it, and until when by the
-- database's clock. Rows stay, since a fence must never be used twice.
CREATE TABLE leases (
	name       TEXT NOT NULL PRIMARY KEY,
	owner      TEXT NOT NULL, -- '' when nobody holds it
	fence      INTEGER NOT NULL CHECK (fence > 0),
	expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX leases_owner ON leases (owner);
