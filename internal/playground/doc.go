// Package playground simulates the outside world: a chat platform and a
// code-hosting platform, with their faults on demand. The demo and the tests
// use it.
package playground
