// Package acceptance tests what the product promises, on the ordinary binary
// as a child process: nothing acknowledged is lost by kill -9, another node
// goes on where one died, and nothing that is sent can bring a node down.
//
// It runs without the race detector, and after everything else.
package acceptance
