package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryBudget is a quarter of what the machine, or the control group the process is in, has.
func memoryBudget() int64 {
	total := int64(2 << 30) // for a machine that does not say
	if n, ok := meminfo(); ok {
		total = n
	}
	if n, ok := cgroupLimit(); ok {
		total = min(total, n)
	}
	return max(total/4, 64<<20)
}

func meminfo() (int64, bool) {
	b, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0, false
	}
	line, _, _ := strings.Cut(string(b), "\n") // MemTotal comes first
	f := strings.Fields(line)
	if len(f) < 2 || f[0] != "MemTotal:" {
		return 0, false
	}
	kb, err := strconv.ParseInt(f[1], 10, 64)
	return kb << 10, err == nil
}

// cgroupLimit is the smallest limit of the process's control group and those above it, in either of the
// two hierarchies that Linux has.
func cgroupLimit() (limit int64, ok bool) {
	b, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	look := func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			return
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64) // "max" is none
		if err == nil && n > 0 && n < 1<<60 && (!ok || n < limit) {
			limit, ok = n, true
		}
	}
	for _, line := range strings.Split(string(b), "\n") {
		f := strings.SplitN(line, ":", 3)
		if len(f) < 3 {
			continue
		}
		root, file := "/sys/fs/cgroup", "memory.max"
		if f[0] != "0" {
			if !strings.Contains(","+f[1]+",", ",memory,") {
				continue
			}
			root, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for dir := filepath.Clean("/" + f[2]); ; dir = filepath.Dir(dir) {
			look(filepath.Join(root, dir, file))
			if dir == "/" {
				break
			}
		}
	}
	return limit, ok
}
