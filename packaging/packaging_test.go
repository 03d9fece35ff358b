// Package packaging holds what the packages bring against what reads it.
package packaging

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// systemd itself says how much the service could do: 0 is nothing, 10 everything.
// Common servers are between 3 and 9.
func TestTheServiceIsHardened(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=true", "--threshold=20", "systemd/outrigger.service").CombinedOutput()
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// No unit has a line that systemd does not know. That it finds no program and no
// manual page here is none.
func TestUnitsAreUnderstood(t *testing.T) {
	units, err := filepath.Glob("systemd/*")
	if err != nil || len(units) != 3 {
		t.Fatalf("units: %v, %v", units, err)
	}
	out, _ := exec.CommandContext(t.Context(), "systemd-analyze", append([]string{"verify", "--man=no"}, units...)...).CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "outrigger") && !strings.Contains(line, "is not executable") {
			t.Error(line)
		}
	}
}
