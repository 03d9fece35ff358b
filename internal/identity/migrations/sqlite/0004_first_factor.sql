-- Until when the session may set up its user's first second factor, since a code of
-- identity_confirm_codes was entered in it; 0 is not at all.
ALTER TABLE identity_sessions ADD COLUMN enrols_until INTEGER NOT NULL DEFAULT 0;
