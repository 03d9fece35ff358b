package db_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"pgregory.net/rapid"

	"outrigger/internal/db"
)

// What was reserved has its blocks, however the file grew and was cut before.
func TestWhatIsReservedHasItsBlocks(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		room, pages := db.RoomOf(f), rapid.Int64Range(0, 1000)
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			if bytes := 8192 * pages.Draw(t, "cut to"); rapid.Bool().Draw(t, "moved") {
				if _, err := f.WriteAt(make([]byte, bytes), 0); err != nil {
					t.Fatal(err)
				}
				if err := room.Cut(bytes); err != nil {
					t.Fatal(err)
				}
			}
			bytes := 8192 * pages.Draw(t, "reserved")
			if err := room.Reserve(bytes); err != nil {
				t.Fatal(err)
			}
			var s syscall.Stat_t
			if err := syscall.Fstat(int(f.Fd()), &s); err != nil {
				t.Fatal(err)
			}
			if s.Blocks*512 < bytes {
				t.Fatalf("reserved %d bytes, the file has blocks for %d", bytes, s.Blocks*512)
			}
		}
	})
}
