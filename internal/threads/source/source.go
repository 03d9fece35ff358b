// Package source is the self-hosted side of threaded comment migration: the
// hierarchy of comments and its export, the mappings from ids here to ids in
// the cloud and their report, for the migration tools that fetch both.
//
// The hierarchy comes from files, or is mirrored from the host application's
// own database; the mappings come from files, per cloud site, or from the
// host's own report.
package source
