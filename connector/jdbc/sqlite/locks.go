package sqlite

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

// holder says which process holds SQLite's lock on a file, as far as /proc/locks tells: " by process 12 (sqlite3)".
func holder(path string) string {
	var inodes []uint64
	for _, p := range []string{path, path + "-shm"} {
		if ino, ok := inode(p); ok {
			inodes = append(inodes, ino)
		}
	}
	// The list is no snapshot, and lacks a lock now and then: what only says that it is us is asked for again.
	found := ""
	for range 3 {
		list, err := os.ReadFile("/proc/locks")
		if err != nil {
			return found
		}
		if found = holderIn(string(list), inodes, os.Getpid()); strings.HasPrefix(found, " by process") {
			return found
		}
	}
	return found
}

// holderIn reads lines such as "1: POSIX  ADVISORY  WRITE 812 08:01:1311 1073741824 1073742335". SQLite
// locks bytes from 2^30 on in a database and from 120 on in a -shm file.
func holderIn(list string, inodes []uint64, self int) string {
	found := ""
	for _, line := range strings.Split(list, "\n") {
		f := strings.Fields(line)
		if len(f) < 8 || f[1] != "POSIX" {
			continue
		}
		dev := strings.Split(f[5], ":")
		ino, err := strconv.ParseUint(dev[len(dev)-1], 10, 64)
		pid, err2 := strconv.Atoi(f[4])
		if err != nil || err2 != nil {
			continue
		}
		for _, want := range inodes {
			if ino != want {
				continue
			}
			if pid != self {
				return " by " + process(pid)
			}
			found = " by another statement of this process"
		}
	}
	return found
}

// process names a process: "process 812 (sqlite3)".
func process(pid int) string {
	text := fmt.Sprintf("process %d", pid)
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err == nil {
		text += " (" + strings.TrimSpace(string(name)) + ")"
	}
	return text
}

func inode(path string) (uint64, bool) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	sys, ok := st.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return sys.Ino, true
}

// LockedError says that a wait for a file's lock was ended by its context.
type LockedError struct {
	Path   string
	Holder string
	Err    error // the context's
}

// Error says who holds the lock, where that is known.
func (e *LockedError) Error() string {
	who := e.Holder
	if who == "" {
		who = " by another process"
	}
	return "database " + e.Path + " is locked" + who
}

// Unwrap returns the context's error.
func (e *LockedError) Unwrap() error { return e.Err }

// retryBusy runs f again while it finds the file locked, until ctx ends. Handles have no busy timeout:
// this loop is the only wait, so that a cancel ends it at once.
func retryBusy(ctx context.Context, path string, f func() error) error {
	pause := time.Millisecond
	end := func() {}
	defer func() { end() }()
	for {
		err := f()
		if err == nil || !isBusy(err) {
			return err
		}
		if pause == time.Millisecond {
			end = connector.WaitsOf(ctx).Begin(path, func() string { return holder(path) })
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			t.Stop()
			return &LockedError{path, holder(path), context.Cause(ctx)}
		case <-t.C:
		}
		pause = min(pause*2, 50*time.Millisecond)
	}
}
