-- The cloud site that an id mappings report is for; '' where nobody said it, and for
-- other files.
ALTER TABLE threads_uploads ADD COLUMN site TEXT NOT NULL DEFAULT '';
