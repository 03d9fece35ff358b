package main

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"outrigger/internal/loadtest"
)

const (
	// syncs are how many times the disk is asked: its slowest hundredth is
	// still a few of them.
	syncs = 400
	// syncBlock is about what a commit of a few events writes.
	syncBlock = 16 << 10
)

// disk is the p99 of a bare write and sync on the disk that the nodes use: what
// no acknowledgement can be quicker than.
func (b *bench) disk() (time.Duration, error) {
	f, err := os.Create(filepath.Join(b.dir, "sync"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	block := make([]byte, syncBlock)
	took := make([]time.Duration, syncs)
	for i := range took {
		began := time.Now()
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return loadtest.Quantile(took, 0.99), nil
}
