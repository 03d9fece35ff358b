package loadtest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of processor times in /proc: USER_HZ, which is 100 on
// every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// CPU is the processor time that the process has used so far.
func CPU(pid int) (time.Duration, error) { return ticks(pid, 11) }

// CPUOfChildren is that of its children that have ended and been waited for.
func CPUOfChildren(pid int) (time.Duration, error) { return ticks(pid, 13) }

// ticks reads two fields of the process's state: its name, in parentheses, may
// hold spaces, and utime is the 11th after it, stime the 12th, cutime and cstime
// follow (proc(5)).
func ticks(pid, at int) (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("processor time: %w", err)
	}
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	var ticks int64
	for _, f := range fields[at : at+2] {
		n, err := strconv.ParseInt(string(f), 10, 64)
		if err != nil {
			return 0, fmt.Errorf("processor time: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// Resident is how many bytes of memory the process holds now.
func Resident(pid int) (int64, error) { return status(pid, "VmRSS:") }

// PeakResident is the most that it ever held.
func PeakResident(pid int) (int64, error) { return status(pid, "VmHWM:") }

func status(pid int, name string) (int64, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, fmt.Errorf("resident memory: %w", err)
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("resident memory: no %s in /proc/%d/status", name, pid)
}
