package session_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/session"
)

// DESCRIBE JOB gives a job's line of SHOW JOBS, whatever the case of the id.
func TestDescribeJob(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"ann", "bob"} {
		require.Equal(t, "ok\n", w.script(t, "SET 'pipeline.name' = '"+name+"'", false))
		res, err := w.Execute(context.Background(), session.Text{SQL: "CREATE TABLE " + name + " AS SELECT 1 AS a"})
		require.NoError(t, err)
		id := res.Job.String()
		require.NoError(t, res.Close())
		for _, id := range []string{id, strings.ToUpper(id)} {
			require.Equal(t, "job id | job name | status | start time | mode | rows in | rows out | checkpoints | last checkpoint | watermark | lag | waiting for | error\n"+
				"<job> | "+name+" | FINISHED | 2026-03-04T05:06:07.089 | batch | 0 | 1 |  |  |  |  |  | \n", w.script(t, "DESCRIBE JOB '"+id+"'", false))
		}
	}
}
