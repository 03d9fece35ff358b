//go:build soak

package acceptance

import (
	"fmt"
	"testing"
)

// TestSoakWays walks the three ways where there is little room: on a phone, and on a
// desk's screen at 200 per cent.
func TestSoakWays(t *testing.T) {
	for _, width := range []int64{390, 640} {
		t.Run(fmt.Sprint(width), func(t *testing.T) { walkAll(t, width) })
	}
}
