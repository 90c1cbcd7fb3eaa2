//go:build failpoint

package failpoint

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// The environment variables that drive the tagged build.
const (
	// variable holds actions, apart by ';': PLACE=ACTION[@N], of which the Nth hit of the place acts (default the
	// first); the place * is every one, its hits counted together. Actions: kill, panic, error, stop (SIGSTOP),
	// wait:FILE (until the file is there), note:FILE (make the file).
	variable = "SLUICE_FAILPOINTS"
	// trace names a file to which each hit adds its place as a line.
	trace = "SLUICE_FAILPOINT_TRACE"
	// mutants holds the names of deliberate faults, apart by ','.
	mutants = "SLUICE_MUTANTS"
)

// Err is what the action error gives.
var Err = errors.New("failpoint")

type action struct {
	place, what string
	nth, hits   int
}

var (
	mu      sync.Mutex
	actions = parse(os.Getenv(variable))
	on      = strings.Split(os.Getenv(mutants), ",")
)

func parse(text string) []*action {
	var list []*action
	for _, s := range strings.Split(text, ";") {
		place, what, ok := strings.Cut(s, "=")
		if !ok {
			continue
		}
		a := &action{place: place, what: what, nth: 1}
		if i := strings.LastIndexByte(what, '@'); i >= 0 {
			n, err := strconv.Atoi(what[i+1:])
			if err != nil {
				panic("failpoint: " + s)
			}
			a.what, a.nth = what[:i], n
		}
		list = append(list, a)
	}
	return list
}

// Hit marks a place. What it returns is to be treated as the error of the call that follows.
func Hit(place string) error {
	mu.Lock()
	if path := os.Getenv(trace); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, place)
			f.Close()
		}
	}
	var due []string
	for _, a := range actions {
		if a.place == place || a.place == "*" {
			if a.hits++; a.hits == a.nth {
				due = append(due, a.what)
			}
		}
	}
	mu.Unlock()
	for _, what := range due {
		verb, arg, _ := strings.Cut(what, ":")
		switch verb {
		case "kill":
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		case "panic":
			panic("failpoint " + place)
		case "error":
			return fmt.Errorf("%w %s", Err, place)
		case "stop":
			_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
		case "wait":
			for {
				if _, err := os.Stat(arg); err == nil {
					break
				}
				time.Sleep(2 * time.Millisecond)
			}
		case "note":
			if f, err := os.Create(arg); err == nil {
				f.Close()
			}
		default:
			panic("failpoint: unknown action " + what)
		}
	}
	return nil
}

// Mutant reports whether a deliberate fault is switched on.
func Mutant(name string) bool { return slices.Contains(on, name) }
