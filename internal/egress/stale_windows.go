package egress

import "net"

// staleness takes every idle connection for closed: it cannot be known here.
func staleness(net.Conn) func() bool { return func() bool { return true } }
