-- What of access that ended after the backup was carried over from the database that
-- it replaced, in sentences; '': nothing could be.
ALTER TABLE backup_restored ADD COLUMN carried TEXT NOT NULL DEFAULT '';
