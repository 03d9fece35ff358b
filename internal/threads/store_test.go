package threads

import (
	"testing"

	"outrigger/internal/audit"
	"outrigger/internal/dbtest"
	"outrigger/internal/threads/upload"
)

func TestSchema(t *testing.T) { dbtest.SameSchema(t, audit.Migrations, upload.Migrations, Migrations) }
