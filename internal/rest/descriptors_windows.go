package rest

import "math"

// descriptors is how many files and connections the process may have open:
// Windows limits them by memory only.
func descriptors() uint64 { return math.MaxUint64 }
