package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What another session writes into a table, after a statement has read it and before that puts another in its place, is
// not lost: the statement fails, and can be run again.
func TestReplaceOfWhatItReads(t *testing.T) {
	x := buildFailpoints(t)
	for _, statement := range []string{
		"REPLACE TABLE d.target.t AS SELECT a + 10 AS a FROM d.target.t",
		"CREATE OR REPLACE TABLE d.target.t AS SELECT a + 10 AS a FROM d.target.t",
		"INSERT OVERWRITE d.target.t SELECT a + 10 FROM d.target.t",
	} {
		dir := t.TempDir()
		target, there, free := filepath.Join(dir, "target.db"), filepath.Join(dir, "there"), filepath.Join(dir, "free")
		execSQLite(t, target, "CREATE TABLE t (a INTEGER)", "INSERT INTO t VALUES (1), (2)")
		const sums = "SELECT count(*) || ' ' || sum(a) FROM t"
		r := x.start(t, catalogSQL("d", target)+statement, statePath(t), "publish.before=note:"+there+";publish.before=wait:"+free, "")
		for processState(r.Process.Pid) != 'Z' {
			if _, err := os.Stat(there); err == nil {
				break
			}
			time.Sleep(2 * time.Millisecond)
		}
		execSQLite(t, target, "INSERT INTO t VALUES (77)")
		require.NoError(t, os.WriteFile(free, nil, 0o600))
		o := r.end(t)
		require.Equal(t, 1, o.code, o.stderr)
		require.Contains(t, o.stderr, "was written by another session while the job read table t of it; nothing was stored, run the statement again")
		require.Equal(t, "3 80", queryText(t, target, sums))
		o = x.run(t, catalogSQL("d", target)+statement, statePath(t), "", "")
		require.Zero(t, o.code, o.stderr)
		require.Equal(t, "3 110", queryText(t, target, sums))
	}
}
