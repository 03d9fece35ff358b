-- Whether the user has hidden the first steps on the overview.
ALTER TABLE identity_users ADD COLUMN first_steps_hidden INTEGER NOT NULL DEFAULT 0 CHECK (first_steps_hidden IN (0, 1));
