package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"outrigger/internal/dbtest"
)

// A backup onto a disk that a server may be on leaves a tenth of it free, whether
// the server says how long the backup is or not, and leaves no file otherwise.
func TestABackupSparesTheDisk(t *testing.T) {
	disk := dbtest.NewDisk(t, 64)
	disk.Fill(t, 20<<20)
	file := filepath.Join(disk.Dir, "backup.db")
	for length, fits := range map[int64]bool{10 << 20: true, -1: false, 18 << 20: false} {
		content := bytes.NewReader(make([]byte, max(length, 30<<20, 0)))
		if fits {
			content = bytes.NewReader(make([]byte, length))
		}
		body, err := spared(file, &http.Response{ContentLength: length, Body: io.NopCloser(content)})
		if err == nil {
			_, err = saveWhole(file, body, func(part string) error { return os.Link(part, file) })
		}
		switch {
		case fits && err != nil:
			t.Errorf("%d bytes: %v", length, err)
		case !fits && (err == nil || !strings.Contains(err.Error(), "too little space in "+disk.Dir)):
			t.Errorf("%d bytes onto the last tenth: %v", length, err)
		}
		if free := disk.Free(t); free < 6<<20 {
			t.Errorf("%d bytes are free", free)
		}
		if found, _ := filepath.Glob(file + "*"); fits != (len(found) == 1) {
			t.Errorf("there is %v", found)
		}
		_ = os.Remove(file)
	}
}
