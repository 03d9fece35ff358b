package db

import "os"

// Room is what has the file system set aside a file's growth.
type Room struct{ disk disk }

// RoomOf is that of a file.
func RoomOf(f *os.File) *Room { return &Room{disk: disk{file: f}} }

// Reserve sets aside so many bytes in all.
func (r *Room) Reserve(bytes int64) error { return r.disk.reserve(bytes) }

// Cut is what SQLite does to the file when the log was moved.
func (r *Room) Cut(bytes int64) error {
	defer r.disk.unreserved()
	return r.disk.file.Truncate(bytes)
}
