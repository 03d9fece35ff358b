package db

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"outrigger/internal/fault"
)

// lookEvery is how often a write looks for the files: soon enough, since a
// removed folder must be noticed within 30 s, and too seldom to cost anything.
const lookEvery = time.Second

// watchedFiles are those that must stay the ones that were opened. Linux goes on
// writing to files that were removed, and says yes to everything.
var watchedFiles = [...]string{databaseFile, logFile, lockFile}

// ErrMoved is in every error about files that are not there any more.
var ErrMoved = errors.New("db: the files are not those that were opened")

// watch notes the files as they are now, right after they were opened.
func (k *disk) watch(lock *os.File) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range watchedFiles {
		info, err := os.Stat(filepath.Join(k.dir, name))
		if err != nil {
			return err
		}
		k.opened = append(k.opened, info)
	}
	held, err := lock.Stat()
	if err == nil && !os.SameFile(held, k.opened[len(k.opened)-1]) {
		err = ErrMoved
	}
	return err
}

// look says which file is missing or was replaced. What an earlier look found
// counts for the time given; afterwards the files may be back.
func (k *disk) look(counts time.Duration) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now := time.Now(); k.looked.IsZero() || now.Sub(k.looked) >= counts {
		k.looked, k.gone = now, k.compare()
	}
	return k.gone
}

func (k *disk) compare() error {
	for i, opened := range k.opened {
		name := watchedFiles[i]
		info, err := os.Stat(filepath.Join(k.dir, name))
		if err == nil && os.SameFile(opened, info) {
			continue
		}
		if err != nil {
			err = fmt.Errorf("%w: %w", ErrMoved, err)
		} else {
			err = ErrMoved
		}
		return fault.Wrap(err, fault.Unavailable,
			"The data folder %s was changed under the running server: %s is missing or another file. Nothing more is saved. Put back what "+
				"was moved, or stop the server and restore the folder from a backup.", k.dir, name)
	}
	return nil
}
