package db

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"outrigger/internal/fault"
)

// lockFolder makes this process the only one on the data folder, until the
// file it gives is closed or the process ends.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, unwritable(err, dir)
	}
	if err := tryLock(f); err != nil {
		holder, _ := os.ReadFile(f.Name())
		f.Close()
		if !lockedElsewhere(err) {
			return nil, fault.Wrap(err, fault.Unavailable, "The data folder %s cannot be locked. Use one on a file system that has locks.", dir)
		}
		who := "Another process"
		if pid := strings.TrimSpace(string(holder)); pid != "" {
			who += " (" + pid + ")"
		}
		return nil, fault.New(fault.Conflict, "%s is using the data folder %s. Stop it, or use another data folder.", who, dir)
	}
	// The number is a hint for the sentence above; the lock does not need it.
	if err := f.Truncate(0); err == nil {
		fmt.Fprintln(f, os.Getpid())
	}
	return f, nil
}
