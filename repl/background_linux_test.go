package repl

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// QUIT and Ctrl-D ask while a job runs, and without a yes the shell stays.
func TestLeavingRunningJobs(t *testing.T) {
	for _, leave := range []string{"QUIT;\r", "quit\r", `\q` + "\r", ctrlD} {
		s := startShell(t)
		s.expect("Sluice SQL> ")
		s.send("JOB 0;\r")
		s.expect("[INFO] Submitting SQL update statement to the cluster...\r\n" +
			"[INFO] SQL update statement has been successfully submitted to the cluster:\r\nJob ID: ")
		s.expect("Sluice SQL> ")
		for _, no := range []string{"\r", "n\r", ctrlD, ctrlC, "SELECT 1;\r"} {
			s.send(leave)
			s.expect("(insert-into_t) runs. Leaving stops it, keeping what has been committed.")
			s.expect("Leave? [y/N] ")
			s.send(no)
			s.expect("[INFO] Staying. SHOW JOBS; lists the jobs, STOP JOB 'id'; stops one.")
			s.expect("Sluice SQL> ")
		}
		s.send("ECHO 1;\r")
		s.expect("1 row in set")
		s.expect("Sluice SQL> ")
		s.send(leave)
		s.expect("Leave? [y/N] ")
		s.send("y\r")
		s.expect("(insert-into_t) is FINISHED, 7 rows written.")
		require.Zero(t, s.code())
	}
}

// A job that has ended is no reason to ask; one that fails says so above the prompt, at once, and the line
// that is being typed stays what it is.
func TestJobFailsAtPrompt(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("JOB 1;\r")
	s.expect("Job ID: ")
	s.expect("Sluice SQL> ")
	s.send("ECHO one")
	s.expect("one")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGUSR1))
	s.expect("(insert-into_t) is FAILED. Reason:\r\nrow 8 is bad")
	s.expect("Sluice SQL> ")
	s.expect("ECHO")
	s.send(" two;\r")
	s.expect("| one two |")
	s.send(ctrlD)
	require.Zero(t, s.code())
	require.NotContains(t, s.transcript(), "Leave?")
}

// A signal that ends the shell asks nothing, and stops the jobs.
func TestTerminationStopsJobs(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("JOB 0; JOB 0;\r")
	s.expect("Job ID: ")
	s.expect("Job ID: ")
	s.expect("Sluice SQL> ")
	require.NoError(t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.expect("is FINISHED")
	s.expect("is FINISHED")
	require.Equal(t, 143, s.code())
	require.NotContains(t, s.transcript(), "Leave?")
}

// A changelog shows each row as it comes, and Ctrl-C is how it ends.
func TestChangelogOnTerminal(t *testing.T) {
	s := startShell(t)
	s.expect("Sluice SQL> ")
	s.send("CHANGES 0;\r")
	s.expect("+----+--------------------------------+\r\n| op |                              n |\r\n")
	s.expect("| +I |                              1 |")
	s.expect("| -U |                              2 |")
	s.expect("| +U |                              3 |")
	s.send(ctrlC)
	s.expect("[INFO] Query terminated, received a total of ")
	s.expect("Sluice SQL> ")
	s.send("CHANGES 2;\r")
	s.expect("Received a total of 2 rows (0.12 seconds)")
	s.expect("Sluice SQL> ")
	s.send(ctrlD)
	require.Zero(t, s.code())
}

// shellScript is a script in a process of its own.
func shellScript(t *testing.T, text string) (*exec.Cmd, *bytes.Buffer) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "SLUICE_TEST_SHELL=1", "SLUICE_TEST_SCRIPT="+scriptFile(t, text))
	errs := &bytes.Buffer{}
	cmd.Stderr = errs
	return cmd, errs
}

// In a pipe rows are seen as they come, too, in every format, with their kinds in front.
func TestChangelogInPipe(t *testing.T) {
	for format, want := range map[string][]string{
		"tableau":  {"+----+-", "| op |", "+----+-", "| +I |", "| -U |"},
		"box":      {"┌────┬─", "│ op │", "├────┼─", "│ +I │", "│ -U │"},
		"csv":      {"op,n", "+I,1", "-U,2"},
		"tsv":      {"op\tn", "+I\t1", "-U\t2"},
		"json":     {`{"op":"+I","n":"1"}`, `{"op":"-U","n":"2"}`},
		"markdown": {"| op | n |", "|:---|:--|", "| +I | 1 |", "| -U | 2 |"},
		"vertical": {"*************************** 1. row", "op: +I", " n: 1", "*************************** 2. row", "op: -U"},
	} {
		t.Run(format, func(t *testing.T) {
			cmd, errs := shellScript(t, "SET 'sluice.format' = '"+format+"'; CHANGES 0;")
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill() }()
			lines := bufio.NewReader(out)
			for _, w := range want {
				line, err := lines.ReadString('\n')
				require.NoError(t, err)
				require.True(t, strings.HasPrefix(line, w), "%q is not %q", line, w)
			}
			require.NoError(t, cmd.Process.Signal(os.Interrupt))
			_ = cmd.Wait()
			require.Equal(t, 130, cmd.ProcessState.ExitCode())
			require.Contains(t, errs.String(), "[INFO] Query terminated, received a total of ")
		})
	}
}

// Whoever reads no further ends the query.
func TestChangelogUnread(t *testing.T) {
	cmd, errs := shellScript(t, "SET 'sluice.format' = 'csv'; CHANGES 0;")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, out.Close())
	_ = cmd.Wait()
	require.Equal(t, 141, cmd.ProcessState.ExitCode(), errs.String())
}

// A script waits for its jobs, says so once, and ends with 1 when one of them has failed.
func TestScriptWaitsForJobs(t *testing.T) {
	const waits = "[INFO] Waiting for "
	for name, road := range ways(t, func() engine { return newFake() }, "JOB 150; JOB 100; ECHO 1") {
		code, out, errs := road()
		require.Equal(t, 1, code, name)
		require.Contains(t, out, "  1 |", name)
		require.Equal(t, 1, strings.Count(errs, waits+"the jobs "), "%s: %s", name, errs)
		require.Contains(t, errs, " to end; Ctrl-C stops them, keeping what has been committed.\n", name)
		require.Equal(t, 2, strings.Count(errs, "(insert-into_t) is FAILED. Reason:\nrow 8 is bad\n"), "%s: %s", name, errs)
		require.Greater(t, strings.LastIndex(errs, "row 8 is bad"), strings.Index(errs, waits), name)
	}
	code, _, errs := capture(t, nil, func(c Config) int { return runCommand(ctx, newFake(), c, "JOB 1; WAITED 1; ECHO 1") })
	require.Equal(t, 1, code, "a job that has failed in the middle")
	require.NotContains(t, errs, waits)
}

// A statement whose job waits for what others hold says so once, on a terminal or not.
func TestHeldIsSaid(t *testing.T) {
	for n := range 2 {
		code, _, errs := capture(t, nil, func(c Config) int { return runCommand(ctx, newFake(), c, fmt.Sprintf("HELD %d", n)) })
		require.Equal(t, 0, code)
		require.Equal(t, n, strings.Count(errs, " (insert-into_t) is waiting for database a.db, locked by another process (process 12).\n"), errs)
	}
}

// An error ends a script and stops its jobs: nobody would look for them.
func TestScriptErrorStopsJobs(t *testing.T) {
	code, _, errs := capture(t, nil, func(c Config) int { return runCommand(ctx, newFake(), c, "JOB 0; FAIL here; ECHO 1") })
	require.Equal(t, 1, code)
	require.Contains(t, errs, "here\n[INFO] Stopping job ")
	require.NotContains(t, errs, "Waiting")
}

// Ctrl-C while a script waits stops the jobs; the exit code is the signal's.
func TestInterruptStopsJobs(t *testing.T) {
	for sig, code := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		cmd, _ := shellScript(t, "JOB 0; JOB 0;")
		errs, err := os.CreateTemp(t.TempDir(), "")
		require.NoError(t, err)
		cmd.Stderr = errs
		require.NoError(t, cmd.Start())
		await(&Screen{err: errs}, "[INFO] Waiting for the jobs")
		require.NoError(t, cmd.Process.Signal(sig))
		_ = cmd.Wait()
		require.Equal(t, code, cmd.ProcessState.ExitCode())
		require.NotContains(t, contents(t, errs.Name()), "ERROR")
	}
}

// A job that prints and one that fails do not tear the line that is typed meanwhile, nor each other's: what
// is printed stands on lines of its own, in order and whole.
func TestLiveJobsWhileTyping(t *testing.T) {
	s, _ := startLive(t)
	for _, sql := range []string{
		"SET 'execution.checkpointing.interval' = '10 ms';",
		"CREATE TABLE g (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '100', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '300');",
		"CREATE TABLE p (text STRING) WITH ('connector' = 'print');",
		"SET 'execution.runtime-mode' = 'streaming';",
		"INSERT INTO p SELECT 'number ' || CAST(n AS STRING) || ' of the background' FROM g;",
		"INSERT INTO o.dst.kept SELECT CAST(10 / (150 - n) AS INT) FROM g;",
	} {
		s.send(sql + "\r")
		s.expect("Sluice SQL> ")
	}
	for !strings.Contains(s.transcript(), "number 1 of") {
		<-s.more
	}
	typed := "SELECT '" + strings.Repeat("é日x", 40) + "' AS"
	for _, c := range typed {
		s.send(string(c))
		time.Sleep(5 * time.Millisecond)
	}
	s.expect("(insert-into_o.dst.kept) is FAILED. Reason:\r\n1:36: division by zero: 10 / 0\r\n  INSERT INTO o.dst.kept SELECT CAST(10 / (150 - n) AS INT) FROM g\r\n")
	for _, c := range " a,\rCAST(7 AS INT) AS seven" {
		s.send(string(c))
		time.Sleep(20 * time.Millisecond)
	}
	s.expect("number 300 of the background")
	s.expect("is FINISHED, 300 rows written.")
	s.send(";\r")
	s.expect("Received a total of 1 row")
	s.send("SET 'execution.runtime-mode' = 'batch'; SELECT COUNT(*) > 100 AS many FROM o.dst.kept;\r")
	s.expect("TRUE |")
	s.send(ctrlD)
	require.Zero(t, s.code())
	shown := s.transcript()
	for i := 1; i <= 300; i++ {
		require.Regexp(t, fmt.Sprintf("[\r\n]\\+I\\[number %d of the background\\]\r\n", i), shown)
	}
	require.Contains(t, shown, strings.Repeat("é日x", 9)) // the statement came through as it was typed
	require.Contains(t, shown, "| +I | ")
}
