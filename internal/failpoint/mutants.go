//go:build failpoint

package failpoint

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// Sniff opens and closes a file; it is a mutant's.
func Sniff(path string) {
	if f, err := os.Open(path); err == nil {
		_ = f.Close()
	}
}

// SignPID writes the id of the process into a side file; it is a mutant's.
func SignPID(f *os.File) { _, _ = fmt.Fprint(f, os.Getpid()) }

// ErrPIDLives says that a side file has the id of a process that is there; it is a mutant's.
var ErrPIDLives = errors.New("the process lives")

// CheckPID returns ErrPIDLives for a file that SignPID has signed, while its process is there; it is a mutant's.
func CheckPID(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	if pid, err := strconv.Atoi(string(text)); err == nil && syscall.Kill(pid, 0) == nil {
		return ErrPIDLives
	}
	return nil
}
