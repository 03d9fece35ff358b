-- Why sending is held back: 'backup', file was restored; 'earlier' or 'other', node
-- found the database in a state of before, or another than the one that it saw last;
-- 'unknown', its note of that could not be read; 'marked' and 'asked', an administrator
-- said so. seen_at is when node saw the database last, state_at the last heartbeat
-- in what it found; 0: not known.
ALTER TABLE backup_restored ADD COLUMN reason TEXT COLLATE "C" NOT NULL DEFAULT 'backup'
	CHECK (reason IN ('backup', 'earlier', 'other', 'unknown', 'marked', 'asked'));
ALTER TABLE backup_restored ADD COLUMN node TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE backup_restored ADD COLUMN seen_at BIGINT NOT NULL DEFAULT 0;
ALTER TABLE backup_restored ADD COLUMN state_at BIGINT NOT NULL DEFAULT 0;
