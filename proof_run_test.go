package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// outcome is what came of a run of the binary.
type outcome struct {
	stdout, stderr string
	code           int // -1 when a signal ended it
	hung           bool
	// left is what was still open at the end, and the temporary files that stayed.
	left []string
}

// died reports whether the process came to no end of its own: by a signal or by a panic.
func (o outcome) died() bool { return o.code == -1 || strings.Contains(o.stderr, "\ngoroutine ") }

// finished counts the statements reported as done.
func (o outcome) finished() int { return strings.Count(o.stderr, "Complete execution") }

func (o outcome) doubt() bool { return strings.Contains(o.stderr, "it is not known whether") }

// tool runs a binary.
type tool struct {
	bin     string
	args    []string
	mutants string
}

// process is a run of the binary that has begun.
type process struct {
	*exec.Cmd
	stdout, stderr bytes.Buffer
	ctx            context.Context
	cancel         context.CancelFunc
	temp, left     string
}

// hangs is how long a run may take.
const hangs = 60 * time.Second

// start starts the binary on a script, with a directory for its state and a failpoint's action ("" for none).
func (x tool) start(t *testing.T, script, state, fault, trace string) *process {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "run")
	require.NoError(t, err)
	p := &process{temp: filepath.Join(dir, "tmp"), left: filepath.Join(dir, "left")}
	require.NoError(t, os.Mkdir(p.temp, 0o755))
	p.ctx, p.cancel = context.WithTimeout(context.Background(), hangs)
	p.Cmd = exec.CommandContext(p.ctx, x.bin, append(slices.Clone(x.args), "-c", script)...)
	p.Env = append(os.Environ(), "XDG_STATE_HOME="+state, "TMPDIR="+p.temp, "SLUICE_FAILPOINTS="+fault, "SLUICE_FAILPOINT_TRACE="+trace,
		"SLUICE_FAILPOINT_LEFT="+p.left, "SLUICE_MUTANTS="+x.mutants)
	p.Stdout, p.Stderr = &p.stdout, &p.stderr
	p.WaitDelay = time.Second
	require.NoError(t, p.Start())
	return p
}

// end waits until the process is gone.
func (p *process) end(t *testing.T) outcome {
	_ = p.Wait() // the exit code says it
	o := outcome{stdout: p.stdout.String(), stderr: p.stderr.String(), code: p.ProcessState.ExitCode(), hung: p.ctx.Err() != nil}
	p.cancel()
	text, err := os.ReadFile(p.left) // which the binary writes with its last breath
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	for _, line := range strings.Split(string(text), "\n") {
		if line != "" {
			o.left = append(o.left, line)
		}
	}
	entries, err := os.ReadDir(p.temp)
	require.NoError(t, err)
	for _, e := range entries {
		o.left = append(o.left, "temporary file "+e.Name())
	}
	return o
}

func (x tool) run(t *testing.T, script, state, fault, trace string) outcome {
	t.Helper()
	return x.start(t, script, state, fault, trace).end(t)
}

// traced runs a script and returns the failpoints it passes.
func (x tool) traced(t *testing.T, script, state string) ([]string, outcome) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace")
	o := x.run(t, script, state, "", path)
	text, err := os.ReadFile(path)
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	return strings.Fields(string(text)), o
}

// statePath returns a new directory for the state of a run.
func statePath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(t.TempDir(), "state")
	require.NoError(t, err)
	return dir
}

// journals lists those in a directory of state.
func journals(t *testing.T, state string) []string {
	entries, err := os.ReadDir(filepath.Join(state, "sluice", "jobs"))
	if err != nil {
		require.ErrorIs(t, err, os.ErrNotExist)
	}
	var names []string
	for _, e := range entries {
		names = append(names, "journal "+e.Name())
	}
	return names
}

// processState is the letter that the system has for what a process does: T stopped, Z dead and not yet waited for. One
// of whose threads some are still about to die, which have its locks, is not dead.
func processState(pid int) byte {
	dir := "/proc/" + strconv.Itoa(pid)
	stat, err := os.ReadFile(dir + "/stat")
	i := bytes.LastIndexByte(stat, ')')
	if err != nil || i < 0 || i+2 >= len(stat) {
		return 0
	}
	if threads, err := os.ReadDir(dir + "/task"); stat[i+2] == 'Z' && (err != nil || len(threads) > 1) {
		return 0
	}
	return stat[i+2]
}

// await waits until a process is in one of some states, and returns it.
func await(t *testing.T, pid int, states string) byte {
	for deadline := time.Now().Add(hangs); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if s := processState(pid); s != 0 && strings.IndexByte(states, s) >= 0 {
			return s
		}
	}
	t.Fatalf("process %d comes to none of the states %s", pid, states)
	return 0
}

// failpointDir has the binary; "" while there is none.
var failpointDir string

var failpointBinary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "sluice-proof")
	if err != nil {
		return "", err
	}
	failpointDir = dir
	bin := filepath.Join(dir, "sluice")
	out, err := exec.Command("go", "build", "-tags", "failpoint", "-o", bin, ".").CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return bin, nil
})

// buildFailpoints builds the binary with failpoints, once.
func buildFailpoints(t *testing.T) tool {
	t.Helper()
	if raced {
		t.Skip("the proof runs without the race detector")
	}
	bin, err := failpointBinary()
	require.NoError(t, err)
	return tool{bin: bin, args: []string{"-D", "sluice.batch-rows=1000", "-D", "sluice.format=csv", "-D", "sluice.on-error=continue"}}
}

// TestMain removes the binary that tests share, and writes the page of the proof if that was asked for.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if failpointDir != "" {
		_ = os.RemoveAll(failpointDir)
	}
	if *proofUpdate {
		code = max(code, writePromise())
	}
	os.Exit(code)
}
