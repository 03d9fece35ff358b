package main

import (
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// limitMemory has the garbage collector work harder before the memory that the
// container or unit may use is full: the kernel ends a process that needs more. A
// quarter is left for what the collector does not count. GOMEMLIMIT goes before.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if most := memoryOf(os.DirFS("/")); most < math.MaxInt64 {
		debug.SetMemoryLimit(most / 4 * 3)
	}
}

// memoryOf is what the control groups of this process allow it, in bytes;
// math.MaxInt64 where they do not say. A container sees its own as the root.
func memoryOf(system fs.FS) int64 {
	most := int64(math.MaxInt64)
	groups, err := fs.ReadFile(system, "proc/self/cgroup")
	if err != nil {
		return most
	}
	for line := range strings.Lines(string(groups)) {
		// 0::/system.slice/outrigger.service, or before version 2 4:memory:/docker/…
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		folder, file := "sys/fs/cgroup", "memory.max"
		if parts[1] == "memory" {
			folder, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		} else if parts[0] != "0" {
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			most = min(most, bytesIn(system, path.Join(folder, group, file)))
			if group == "/" {
				break
			}
		}
	}
	return most
}

// bytesIn reads a file with one number; "max" is none, and so is what cannot be read.
func bytesIn(system fs.FS, name string) int64 {
	text, err := fs.ReadFile(system, name)
	if err != nil {
		return math.MaxInt64
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil || n <= 0 {
		return math.MaxInt64
	}
	return n
}
