//go:build failpoint

package failpoint

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// left names the file that Left writes.
const left = "SLUICE_FAILPOINT_LEFT"

// inherited are the descriptors that the process has from its parent and from Go's runtime.
var inherited = descriptors(nil)

// Left writes down what is still open at the end of the process: goroutines beside the one that calls it, and
// descriptors that it did not begin with. What is just about to end is given a moment.
func Left() {
	path := os.Getenv(left)
	if path == "" {
		return
	}
	var list []string
	for range 100 {
		if list = append(goroutines(), descriptors(inherited)...); len(list) == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	_ = os.WriteFile(path, []byte(strings.Join(list, "\n")+"\n"), 0o600) // the test finds none
}

func goroutines() (list []string) {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for i, g := range bytes.Split(stacks, []byte("\n\n")) {
		if i == 0 || bytes.Contains(g, []byte("os/signal.signal_recv")) { // this one; the runtime's, once signals were listened to
			continue
		}
		list = append(list, strings.ReplaceAll(string(g), "\n", " "))
	}
	return list
}

func descriptors(known []string) (list []string) {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		to, err := os.Readlink(filepath.Join(dir, e.Name()))
		switch {
		case err != nil: // the one that reads the directory
		case strings.HasPrefix(to, "anon_inode:[event"): // those of Go's poller
		default:
			if open := fmt.Sprintf("descriptor %s %s", e.Name(), to); !slices.Contains(known, open) {
				list = append(list, open)
			}
		}
	}
	return list
}
