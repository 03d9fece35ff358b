package db_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"outrigger/internal/db"
	"outrigger/internal/dbtest"
)

// Leases that lapse or become another's count as lost, once each; those that are
// given up do not.
func TestLostLeasesAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		d := dbtest.Open(t, db.Options{Dir: t.TempDir(), Metrics: registry})
		must(t, d.Migrate(t.Context()))
		one, two := dbtest.Leases(t, d, "node_1"), dbtest.Leases(t, d, "node_2")
		for i := range 10 {
			lease := acquire(t, one, fmt.Sprint("given up ", i))
			must(t, one.Release(t.Context(), lease))
			acquire(t, one, fmt.Sprint("taken ", i))
			lapse(t, d, fmt.Sprint("taken ", i))
			acquire(t, two, fmt.Sprint("taken ", i))
		}
		for range 2 {
			must(t, one.RenewOnce(t.Context()))
		}
		if n := counted(t, registry, "outrigger_db_leases_lost_total"); n != 10 {
			t.Errorf("%v leases are lost, want 10", n)
		}
		must(t, d.Close()) // node_2's can be renewed no more
		<-time.After(db.LeaseTime + time.Second)
		if n := counted(t, registry, "outrigger_db_leases_lost_total"); n != 20 {
			t.Errorf("%v leases are lost, want 20", n)
		}
	})
}

func counted(t *testing.T, r *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := r.Gather()
	must(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}
