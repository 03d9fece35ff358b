-- What went to and fro with an attempt that did not deliver. headers are those of
-- the answer that are kept, a line "Name: value" each; as the answer, they are for
-- everyone only where public is 1. request is the message as it was sent, kept with
-- the first and the last such attempt of a delivery; of a digest with its first
-- delivery alone, which batch names: 0, it was a message of its own. format is the
-- message's. Of attempts of before, all are empty.
ALTER TABLE notify_attempts ADD COLUMN headers TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE notify_attempts ADD COLUMN request TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE notify_attempts ADD COLUMN format TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE notify_attempts ADD COLUMN batch BIGINT NOT NULL DEFAULT 0;
