package store

import (
	"testing"

	"outrigger/internal/dbtest"
)

func TestSchema(t *testing.T) { dbtest.SameSchema(t, schema...) }
