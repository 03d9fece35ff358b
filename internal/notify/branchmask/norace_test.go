//go:build !race

package branchmask

const slowdown = 1
