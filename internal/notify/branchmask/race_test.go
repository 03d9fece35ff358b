//go:build race

package branchmask

// slowdown is about how many times slower the race detector makes a match.
const slowdown = 15
