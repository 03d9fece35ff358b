package config

import (
	"net"
	"testing"
)

func TestListensAt(t *testing.T) {
	tcp := func(address string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	file := &net.UnixAddr{Name: "/run/o.sock", Net: "unix"}
	for _, c := range []struct {
		listen string
		addr   net.Addr
		want   bool
	}{
		{"127.0.0.1:8090", tcp("127.0.0.1:8090"), true},
		{"127.0.0.1:0", tcp("127.0.0.1:8090"), true},
		{"localhost:8090", tcp("127.0.0.1:8090"), true},
		{":8090", tcp("[::]:8090"), true},
		{":8090", tcp("0.0.0.0:8090"), true},
		{"0.0.0.0:8090", tcp("0.0.0.0:8090"), true},
		{"127.0.0.1:8090", tcp("0.0.0.0:8090"), false},
		{"127.0.0.1:8090", tcp("127.0.0.1:8091"), false},
		{":8090", tcp("127.0.0.1:8090"), false},
		{"127.0.0.1:8090", file, false},
		{"unix:/run/o.sock", file, true},
		{"unix:/run/p.sock", file, false},
		{"unix:/run/o.sock", tcp("127.0.0.1:8090"), false},
	} {
		if got := ListensAt(c.listen, c.addr); got != c.want {
			t.Errorf("%s at %v: %v", c.listen, c.addr, got)
		}
	}
}
