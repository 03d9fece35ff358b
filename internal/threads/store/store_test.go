package store

import (
	"testing"

	"go.uber.org/goleak"

	"outrigger/internal/dbtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSchema(t *testing.T) { dbtest.SameSchema(t, schema...) }
