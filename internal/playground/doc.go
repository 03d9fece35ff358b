// Package playground plays the outside world: a chat platform and a
// code-hosting platform, with their faults on demand. The demo and the tests
// use it; nothing else does.
package playground
