package main

import "strings"

// serverFlag is --server of the commands that ask a server.
type serverFlag struct {
	Server string `help:"The server's base URL." env:"OUTRIGGER_SERVER" default:"http://127.0.0.1:8090" placeholder:"URL"`
}

// address is the base URL without a slash at its end.
func (f serverFlag) address() string { return strings.TrimRight(f.Server, "/") }
