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

// limitMemory has the garbage collector work harder before the process needs more memory
// than the container or unit may use, because the kernel kills it then. A quarter is left
// for what the collector does not count. GOMEMLIMIT takes precedence.
func limitMemory() {
	if os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	if most := allowedMemory(os.DirFS("/")); most < math.MaxInt64 {
		debug.SetMemoryLimit(most / 4 * 3)
	}
}

// allowedMemory returns how many bytes the control groups of this process allow it, or
// math.MaxInt64 if they set no limit. A container sees its own group as the root.
func allowedMemory(system fs.FS) int64 {
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
			most = min(most, readLimit(system, path.Join(folder, group, file)))
			if group == "/" {
				break
			}
		}
	}
	return most
}

// readLimit returns the number in a file; math.MaxInt64 for "max", and for a file that
// cannot be read.
func readLimit(system fs.FS, name string) int64 {
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
