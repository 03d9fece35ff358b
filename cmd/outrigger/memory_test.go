package main

import (
	"math"
	"testing"
	"testing/fstest"
)

func TestMemoryOfControlGroups(t *testing.T) {
	const none = int64(math.MaxInt64)
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups": {nil, none},
		"a unit": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/outrigger.service\n", "sys/fs/cgroup/system.slice/outrigger.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max": "max\n",
		}, 512 << 20},
		"a unit in a slice with less": {map[string]string{
			"proc/self/cgroup": "0::/system.slice/outrigger.service\n", "sys/fs/cgroup/system.slice/outrigger.service/memory.max": "536870912\n",
			"sys/fs/cgroup/system.slice/memory.max": "67108864\n",
		}, 64 << 20},
		"a container":                      {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "67108864\n"}, 64 << 20},
		"a container that sees the host's": {map[string]string{"proc/self/cgroup": "0::/docker/abc\n", "sys/fs/cgroup/memory.max": "67108864\n"}, 64 << 20},
		"a container outside":              {map[string]string{"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/memory.max": "67108864\n"}, 64 << 20},
		"version 1": {map[string]string{
			"proc/self/cgroup": "12:cpu,cpuacct:/docker/abc\n4:memory:/docker/abc\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "67108864\n",
		}, 64 << 20},
		"no limit":            {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}, none},
		"what is no number":   {map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "-1\n"}, none},
		"a line that is none": {map[string]string{"proc/self/cgroup": "0:/\n\n", "sys/fs/cgroup/memory.max": "1\n"}, none},
	} {
		system := fstest.MapFS{}
		for file, content := range c.files {
			system[file] = &fstest.MapFile{Data: []byte(content)}
		}
		if got := allowedMemory(system); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
