// Package format reads and writes the files of a migration: the hierarchy of
// comments (JSON), the id mappings report (CSV), backups, and what a file went
// through on its way here: gzip, zip, a byte order mark, UTF-16.
package format
