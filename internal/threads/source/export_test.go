package source

import (
	"context"

	"outrigger/internal/db"
)

// What tests of endpoints and pages need of the inside.

func (r *Reports) RunOnce(ctx context.Context) (int, error) { return r.runOnce(ctx) }

// Wait waits for the reports that were begun.
func (r *Reports) Wait() { r.jobs.Wait() }

func (r *Reports) Leases() *db.Leases { return r.leases }

func (m *Mirror) RunOnce(ctx context.Context) (MirrorResult, error) { return m.runOnce(ctx) }

const ScriptName = scriptName

// Script is the helper script.
func Script() []byte { return script }
