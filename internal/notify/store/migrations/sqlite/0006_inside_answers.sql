-- What a chat platform says is for whoever sees the message or the channel where it
-- answered from a public address. Where notify.allowed_networks alone opens the
-- address, it is for administrators: others read the status, and no words.
--
-- public is 1 where the answer is for everyone. Of attempts of before it is not
-- known, so they have 0, and so have those of a release before that runs beside
-- this one. inside is the reason with the words; '' where the reason is all there
-- is. Reasons of before that may quote an answer or a certificate move there.
ALTER TABLE notify_attempts ADD COLUMN public INTEGER NOT NULL DEFAULT 0 CHECK (public = 0 OR public = 1);
ALTER TABLE notify_deliveries ADD COLUMN public INTEGER NOT NULL DEFAULT 0 CHECK (public = 0 OR public = 1);
ALTER TABLE notify_deliveries ADD COLUMN inside TEXT NOT NULL DEFAULT '';
ALTER TABLE notify_channels ADD COLUMN inside TEXT NOT NULL DEFAULT '';
ALTER TABLE notify_channels ADD COLUMN gate_inside TEXT NOT NULL DEFAULT '';

UPDATE notify_channels SET inside = reason, reason = 'What the chat platform answered is shown to administrators only.'
    WHERE reason LIKE '%The chat platform answered %' OR reason LIKE '%is not trusted: %';
UPDATE notify_channels SET gate_inside = gate_reason, gate_reason = 'What the chat platform answered is shown to administrators only.'
    WHERE gate_reason LIKE '%The chat platform answered %' OR gate_reason LIKE '%is not trusted: %';
UPDATE notify_deliveries SET inside = reason, reason = 'What the chat platform answered is shown to administrators only.'
    WHERE state = 'failed' AND reason LIKE '%The chat platform answered %';
UPDATE notify_deliveries SET inside = reason, reason = 'What the chat platform answered is shown to administrators only.'
    WHERE finished_at = 0 AND (reason LIKE '%The chat platform answered %' OR reason LIKE '%is not trusted: %');
UPDATE notify_attempts SET answer = error, error = 'the certificate is not trusted'
    WHERE status = 0 AND error LIKE 'the certificate of %';
