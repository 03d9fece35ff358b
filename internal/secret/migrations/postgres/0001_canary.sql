CREATE TABLE secret_canary (
	id     BIGINT PRIMARY KEY CHECK (id = 1),
	sealed BYTEA NOT NULL
);
