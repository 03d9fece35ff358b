package monitoring

import (
	"bytes"
	"os"
	"testing"
)

// The dashboard in the repository is that of Rows. UPDATE_GOLDEN=1 writes it anew.
func TestDashboard(t *testing.T) {
	made, err := MakeDashboard()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile("dashboard.json", made, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(made, Dashboard) {
		t.Error("dashboard.json is not what Rows say; run with UPDATE_GOLDEN=1 if that is meant")
	}
}
