// Package store keeps in the database what is known of each node's mail queue:
// the last sizes, samples over time, and the nodes that are only watched.
package store

import (
	"embed"

	"outrigger/internal/db"
)

//go:embed migrations
var migrations embed.FS

// Migrations is the schema of the samples. It needs those of audit and cluster.
var Migrations = db.Migrations{Name: "mailqueue", FS: migrations}

// Store keeps what is known of each node's queue.
type Store struct{ db *db.DB }

// New makes a Store.
func New(d *db.DB) *Store { return &Store{d} }
