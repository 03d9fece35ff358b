package loadtest

import "testing"

// Of 300 random ports of 10,000 two are the same nearly always.
func TestPortsAreGivenOnce(t *testing.T) {
	seen := map[int]bool{}
	for range 300 {
		port, err := FreePort()
		if err != nil {
			t.Fatal(err)
		}
		if seen[port] {
			t.Fatal("port ", port, " is given twice")
		}
		seen[port] = true
	}
}
