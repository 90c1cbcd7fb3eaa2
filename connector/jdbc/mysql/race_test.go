package mysql

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/testserver"
)

// reading counts rows of t in a loop, by sessions of others, until stopped: each count has to be one of those allowed.
func (f *fixture) reading(allowed ...string) (stop func()) {
	ctx, cancel := context.WithCancel(f.ctx)
	var wg sync.WaitGroup
	faults := make(chan string, 2)
	var turns sync.WaitGroup
	for range 2 {
		c, err := f.s.connect(f.ctx, f.db)
		require.NoError(f.t, err)
		wg.Add(1)
		turns.Add(1)
		turn := sync.OnceFunc(turns.Done)
		go func() {
			defer wg.Done()
			defer turn()
			defer c.close()
			for ctx.Err() == nil {
				n, err := c.value(f.ctx, "SELECT CONCAT(COUNT(*), ' ', COALESCE(SUM(a), 0)) FROM t")
				switch {
				case err != nil:
					faults <- err.Error()
					return
				case !strings.Contains("|"+strings.Join(allowed, "|")+"|", "|"+n.text+"|"):
					faults <- "read " + n.text
					return
				}
				turn()
			}
		}()
	}
	return func() {
		turns.Wait()
		cancel()
		wg.Wait()
		close(faults)
		for fault := range faults {
			f.t.Error(fault)
		}
	}
}

// Readers see a table whole, as it was or as it is, while it is replaced and overwritten again and again.
func TestReadersSeeWholeTables(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t VALUES (1),(2)")
	stop := f.reading("2 3", "1000 499500", "500 124750")
	for i := range 25 {
		f.done(f.s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: keyed(t)}, Mode: server.Replace}), numbers(0, 1000-500*(i%2)))
	}
	for i := range 10 {
		tx, err := f.open("t").Transaction(f.ctx, connector.Insert{Columns: []int{0}, Overwrite: true})
		require.NoError(t, err)
		f.done(tx, numbers(0, 1000-500*(i%2)))
	}
	stop()
	require.Empty(t, f.ours())
}

// Of several jobs at one table each is whole or refused, and nothing of any stays.
func TestJobsRace(t *testing.T) {
	f := setUp(t)
	for _, mode := range []server.Mode{server.Create, server.CreateOrReplace, server.Replace} {
		f.sql("DROP TABLE IF EXISTS t")
		if mode == server.Replace {
			f.sql("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
		}
		var wg sync.WaitGroup
		var done atomic.Int64
		for i := range 6 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				tx := f.s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: keyed(t)}, Mode: mode})
				_, err := f.write(tx, numbers(i*1000, 1000))
				out := connector.NotDone
				if err == nil {
					out, err = tx.Commit(f.ctx)
				}
				var exists *server.ExistsError
				switch {
				case out == connector.Done:
					done.Add(1)
				case mode == server.Create && errors.As(err, &exists), mode != server.Create && errors.Is(err, server.ErrChanged):
				default:
					t.Errorf("mode %d: %v %v", mode, out, err)
				}
				if err := tx.Abort(f.ctx); err != nil {
					t.Error(err)
				}
			}()
		}
		wg.Wait()
		require.Positive(t, done.Load())
		if mode == server.Create {
			require.EqualValues(t, 1, done.Load())
		}
		require.Equal(t, "1000\t999\n", f.sql("SELECT COUNT(*), MAX(a) - MIN(a) FROM t"))
		f.swept("race")
	}
}

// A rival makes the target, or changes it, while the job writes, or right before its RENAME. The first is found by a
// look. The second counts as done before the RENAME where there is still a table that gives way: the new one stands.
func TestRivals(t *testing.T) {
	f := setUp(t)
	for _, x := range []struct {
		mode   server.Mode
		before string
		rival  string
		want   string
		late   connector.Outcome
	}{
		{server.Create, "", "CREATE TABLE t (mine INT)", "table t already exists", connector.NotDone},
		{server.Create, "", "CREATE VIEW t AS SELECT 1 AS mine", "table t already exists", connector.NotDone},
		{server.CreateOrReplace, "", "CREATE TABLE t (mine INT)", "changed by another session", connector.NotDone},
		{server.Replace, "CREATE TABLE t (a INT)", "ALTER TABLE t ADD mine INT", "changed by another session", connector.Done},
		{server.Replace, "CREATE TABLE t (a INT)", "ALTER TABLE t COMMENT='mine'", "changed by another session", connector.Done},
		{server.Replace, "CREATE TABLE t (a INT)", "DROP TABLE t; CREATE TABLE t (mine INT)", "changed by another session", connector.Done},
		{server.Replace, "CREATE TABLE t (a INT)", "DROP TABLE t; CREATE TABLE t (a INT)", "changed by another session", connector.Done},
		{server.Replace, "CREATE TABLE t (a INT)", "DROP TABLE t", "changed by another session", connector.NotDone},
	} {
		for _, late := range []bool{false, true} {
			f.sql("DROP TABLE IF EXISTS t; DROP VIEW IF EXISTS t; " + x.before)
			s, _ := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
				if late && d == testserver.ToServer && publishes(b) {
					f.sql(x.rival)
				}
				return testserver.Pass
			})
			tx := s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: schema(t, "a INT")}, Mode: x.mode})
			_, err := f.write(tx, numbers(0, 10))
			require.NoError(t, err)
			if !late {
				f.sql(x.rival)
			}
			out, err := tx.Commit(f.ctx)
			if late && x.late == connector.Done {
				require.Equal(t, connector.Done, out, x.rival)
				require.ErrorContains(t, err, changedSince, x.rival)
				require.Equal(t, "10\t45\n", f.sql("SELECT COUNT(*), SUM(a) FROM t"), x.rival)
				kept := ownName(tx.(*staged).job, keptName)
				f.sql("SELECT 1 FROM `" + kept + "`; DROP TABLE `" + kept + "`")
				require.Empty(t, f.ours(), x.rival)
				continue
			}
			require.Equal(t, connector.NotDone, out, x.rival)
			require.ErrorContains(t, err, x.want, x.rival)
			require.NoError(t, tx.Abort(f.ctx))
			if !strings.HasSuffix(x.rival, "DROP TABLE t") {
				text := f.sql("SHOW CREATE TABLE t")
				if strings.Contains(x.rival, "mine") {
					require.Contains(t, text, "mine", x.rival)
				}
			}
			require.Empty(t, f.ours(), x.rival)
		}
	}
}

// publishes reports whether a message has the RENAME that publishes.
func publishes(b []byte) bool {
	return bytes.Contains(b, []byte("RENAME TABLE")) && bytes.Contains(b, []byte("_"+doneName+"`"))
}

// waiting returns once a session of the server waits for the lock of a table's name with a statement that begins so.
func (f *fixture) waiting(statement string) {
	f.t.Helper()
	require.Eventually(f.t, func() bool {
		return f.sql("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'Waiting for table metadata lock' AND INFO LIKE '"+statement+"%'") != "0\n"
	}, 20*time.Second, 20*time.Millisecond, statement)
}

// An ALTER by another session is queued before the RENAME, an INSERT behind it. The table is replaced, the row of the
// INSERT is kept, and no reader sees anything but the old table and the new one.
func TestPublishedStays(t *testing.T) {
	f := setUp(t)
	for _, dies := range []bool{false, true} { // the job, while its RENAME waits
		f.quick("DROP TABLE IF EXISTS t", "CREATE TABLE t (a INT) ENGINE=InnoDB", "INSERT INTO t VALUES (1)")
		var down atomic.Bool
		s, p := f.through(func(testserver.Direction, []byte) testserver.Verdict {
			if down.Load() {
				return testserver.Cut
			}
			return testserver.Pass
		})
		tx := s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: schema(t, "a INT")}, Mode: server.Replace})
		note := ""
		tx.(connector.Evident).NoteEvidence(func(text string) error { note = text; return nil })
		_, err := f.write(tx, numbers(10, 3))
		require.NoError(t, err)
		holder, err := f.s.connect(f.ctx, f.db)
		require.NoError(t, err)
		for _, s := range []string{"BEGIN", "SELECT * FROM t"} {
			_, err := holder.query(f.ctx, s)
			require.NoError(t, err)
		}
		rivals := make(chan error, 2)
		rival := func(statement string) {
			go func() {
				rivals <- f.s.with(f.ctx, f.db, func(c *conn) error { _, err := c.exec(f.ctx, statement); return err })
			}()
			f.waiting(statement)
		}
		rival("ALTER TABLE t ADD z INT")
		var out connector.Outcome
		over := make(chan struct{})
		go func() { defer close(over); out, err = tx.Commit(f.ctx) }()
		f.waiting("RENAME TABLE")
		rival("INSERT INTO t (a) VALUES (77)")
		if dies {
			down.Store(true)
			p.CutAll()
		}
		_, rollback := holder.exec(f.ctx, "ROLLBACK")
		require.NoError(t, rollback)
		require.NoError(t, holder.close())
		require.NoError(t, <-rivals)
		require.NoError(t, <-rivals)
		const whole = "10\n11\n12\n77\n"
		if dies {
			// Whoever comes next, and whatever the server's house-keeping has done to the old table.
			f.quick("OPTIMIZE TABLE `" + ownName(tx.(*staged).job, displacedName) + "`")
			require.Equal(t, whole, f.quick("SELECT * FROM t ORDER BY a"))
			got, err := f.s.Outcome(f.ctx, f.db, note)
			require.NoError(t, err)
			require.Equal(t, connector.Done, got)
			_, _, err = f.s.Sweep(f.ctx, f.db, nil)
			require.ErrorContains(t, err, changedSince)
			p.SetFilter(nil)
			<-over
		} else {
			<-over
			require.ErrorContains(t, err, changedSince)
			require.Equal(t, connector.Done, out)
		}
		require.Equal(t, whole, f.quick("SELECT * FROM t ORDER BY a"))
		// The table that somebody worked on at the last moment is no loss either, and is told of until it is dropped.
		kept := ownName(tx.(*staged).job, keptName)
		require.Equal(t, "1\t\n", f.quick("SELECT a, z FROM `"+kept+"`"))
		_, _, err = f.s.Sweep(f.ctx, f.db, nil)
		require.ErrorContains(t, err, "`"+kept+"`")
		f.quick("DROP TABLE `" + kept + "`")
		f.swept("there is nothing to tell of any more")
		require.Empty(t, f.ours())
	}
}

// What the old table gets between the look at it and the RENAME, and would be lost with it, keeps it from being
// dropped, by the job and by every sweep, which tell of it.
func TestDisplacedIsKept(t *testing.T) {
	f := setUp(t)
	for rival, want := range map[string]string{
		"CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1":                              "trigger g",
		"CREATE TABLE child (a INT, CONSTRAINT links FOREIGN KEY (a) REFERENCES t (a)) ENGINE=InnoDB": "foreign key links of table " + f.db + ".child",
		"ALTER TABLE t ADD INDEX ix (a)":                                                              "index ix",
		"DROP TABLE t; CREATE VIEW t AS SELECT 1 AS mine":                                             "its kind (view)",
	} {
		for _, dies := range []bool{false, true} {
			f.sql("DROP TABLE IF EXISTS child, t; DROP VIEW IF EXISTS t; CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB")
			var down atomic.Bool
			s, p := f.through(func(d testserver.Direction, b []byte) testserver.Verdict {
				switch {
				case down.Load():
					return testserver.Cut
				case d == testserver.ToServer && publishes(b):
					f.sql(rival)
					if dies {
						down.Store(true)
						return testserver.PassAndCut
					}
				}
				return testserver.Pass
			})
			tx := s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: keyed(t)}, Mode: server.Replace})
			_, err := f.write(tx, numbers(0, 10))
			require.NoError(t, err)
			old := ownName(tx.(*staged).job, keptName)
			if dies {
				gone := make(chan struct{})
				go func() { defer close(gone); _, _ = tx.Commit(f.ctx) }()
				require.Eventually(t, down.Load, time.Minute, time.Millisecond)
				defer func() { p.SetFilter(nil); <-gone }()
			} else {
				out, err := tx.Commit(f.ctx)
				require.Equal(t, connector.Done, out, rival)
				require.ErrorContains(t, err, "the old one has got "+want, rival)
				require.ErrorContains(t, err, "`"+old+"`", rival)
			}
			var kept *KeptError
			require.Eventually(t, func() bool {
				_, _, err = f.s.Sweep(f.ctx, f.db, nil)
				return errors.As(err, &kept)
			}, time.Minute, 20*time.Millisecond, rival)
			require.ErrorContains(t, err, "the old one has got "+want, rival)
			require.Equal(t, "10\t45\n", f.sql("SELECT COUNT(*), SUM(a) FROM t"), rival)
			f.s.answered(tx.(*staged).job)
			f.sql("DROP TABLE IF EXISTS child")
			_, _ = f.ts.TryQuery(f.db, "DROP VIEW IF EXISTS `"+old+"`") // of the one rival
			f.sql("DROP TABLE IF EXISTS `" + old + "`")
			f.swept(rival)
		}
	}
}

// A wait, wherever it is, ends with its context, and leaves no session.
func TestCancel(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t VALUES (5); CREATE VIEW slow AS SELECT SLEEP(60) AS a; CREATE TABLE l (a INT) ENGINE=InnoDB")
	holder, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	defer holder.close()
	hold := func(statements ...string) {
		for _, s := range statements {
			_, err := holder.exec(f.ctx, s)
			require.NoError(t, err)
		}
	}
	write := func(ctx context.Context, tx connector.Transaction) error {
		if err := tx.Begin(ctx, connector.NewJobID()); err != nil {
			return err
		}
		w, err := tx.Writer(ctx, 0)
		if err != nil {
			return err
		}
		if err := w.Write(ctx, feed(numbers(0, 10))); err != nil {
			return err
		}
		_, err = tx.Seal(ctx)
		return err
	}
	insert := func(overwrite bool) func(context.Context) error {
		return func(ctx context.Context) error {
			tx, err := f.open("t").Transaction(ctx, connector.Insert{Columns: []int{0}, Overwrite: overwrite})
			require.NoError(t, err)
			defer func() { require.NoError(t, tx.Abort(f.ctx)) }()
			return write(ctx, tx)
		}
	}
	f.sql("INSTALL SONAME 'metadata_lock_info'")
	defer f.sql("UNINSTALL SONAME 'metadata_lock_info'")
	replace := func(ctx context.Context) error {
		tx := f.s.Stage(server.Target{Database: f.db, Table: "t", Definition: server.Definition{Schema: keyed(t)}, Mode: server.Replace})
		defer func() { require.NoError(t, tx.Abort(f.ctx)) }()
		err := write(ctx, tx)
		require.ErrorContains(t, err, fmt.Sprintf("is in use by session %d of "+testserver.User, holder.id))
		return err
	}
	for name, x := range map[string]struct {
		hold []string
		do   func(context.Context) error
	}{
		"read": {nil, func(ctx context.Context) error {
			src, err := f.open("slow").Source(ctx, connector.Scan{Columns: []int{0}, Limit: -1})
			require.NoError(t, err)
			defer src.Close()
			splits, err := src.Splits(ctx, 1)
			if err != nil { // a view without tables is worked out when it is held
				return err
			}
			r, err := src.Reader(ctx, splits)
			require.NoError(t, err)
			defer r.Close()
			for {
				b := &column.Batch{}
				if status, err := r.Read(ctx, b); err != nil || status == connector.End {
					return err
				}
			}
		}},
		"insert, a row's lock":    {[]string{"BEGIN", "DELETE FROM t WHERE a = 5"}, insert(false)},
		"overwrite, a row's lock": {[]string{"BEGIN", "UPDATE t SET a = 6"}, insert(true)},
		"insert, a table's lock":  {[]string{"LOCK TABLES t WRITE"}, insert(false)},
		"replace, a reader":       {[]string{"BEGIN", "SELECT * FROM t"}, replace},
		"replace, a table's lock": {[]string{"LOCK TABLES t WRITE"}, replace},
		"truncate":                {[]string{"BEGIN", "SELECT * FROM t"}, func(ctx context.Context) error { return f.open("t").Truncate(ctx) }},
		"drop":                    {[]string{"BEGIN", "SELECT * FROM l"}, func(ctx context.Context) error { return f.s.DropTable(ctx, f.db, "l", "") }},
		"alter": {[]string{"BEGIN", "SELECT * FROM l"}, func(ctx context.Context) error {
			return f.s.AlterTable(ctx, f.db, "l", []server.Step{columnStep(server.CommentColumn, "a", "x")}, func(*server.TableInfo) bool { return true })
		}},
	} {
		if x.hold != nil {
			hold(x.hold...)
		}
		ctx, cancel := context.WithCancelCause(f.ctx)
		ended := errors.New("ended by the user")
		done := make(chan error, 1)
		go func() { done <- x.do(ctx) }()
		select {
		case err := <-done:
			t.Fatalf("%s: did not wait: %v", name, err)
		case <-time.After(400 * time.Millisecond):
		}
		cancel(ended)
		select {
		case err := <-done:
			require.ErrorIs(t, err, ended, name)
		case <-time.After(20 * time.Second): // less than any of these waits takes by itself
			t.Fatalf("%s: goes on", name)
		}
		hold("ROLLBACK", "UNLOCK TABLES")
		require.Empty(t, f.ours(), name)
		require.Equal(t, "5\n", f.sql("SELECT * FROM t"), name)
	}
}

// Two jobs that wait for each other: the server ends one, whose rows are then all gone, those before the wait, too.
func TestDeadlock(t *testing.T) {
	f := setUp(t)
	f.sql("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t VALUES (1),(2)")
	other, err := f.s.connect(f.ctx, f.db)
	require.NoError(t, err)
	defer other.close()
	// The server ends the one that has changed less.
	for _, s := range []string{"BEGIN", "UPDATE t SET a = 102 WHERE a = 2", "CREATE TEMPORARY TABLE many (n INT) ENGINE=InnoDB SELECT seq AS n FROM seq_1000_to_1200", "INSERT INTO t SELECT n FROM many", "DELETE FROM t WHERE a >= 1000"} {
		_, err := other.exec(f.ctx, s)
		require.NoError(t, err)
	}
	tx, err := f.open("t").Transaction(f.ctx, connector.Insert{Columns: []int{0}})
	require.NoError(t, err)
	require.NoError(t, tx.Begin(f.ctx, connector.NewJobID()))
	w := tx.(*work)
	_, err = w.c.exec(f.ctx, "INSERT INTO t VALUES (50)")
	require.NoError(t, err)
	_, err = w.c.exec(f.ctx, "UPDATE t SET a = 101 WHERE a = 1")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { _, err := other.exec(f.ctx, "UPDATE t SET a = 103 WHERE a = 1"); done <- err }()
	time.Sleep(200 * time.Millisecond)
	writer, err := tx.Writer(f.ctx, 0)
	require.NoError(t, err)
	err = writer.Write(f.ctx, feed(numbers(2, 1)))
	if err == nil {
		_, err = tx.Seal(f.ctx)
	}
	otherErr := <-done
	require.NoError(t, tx.Abort(f.ctx))
	require.NoError(t, otherErr)
	require.ErrorContains(t, err, "Deadlock found")
	_, err = other.exec(f.ctx, "COMMIT")
	require.NoError(t, err)
	require.Equal(t, "102\n103\n", f.sql("SELECT * FROM t"))
	require.Empty(t, f.ours())
}

// The remains of a dead job go, those of a live one stay, whoever looks; a sweep that is cut anywhere is gone on with.
func TestSweep(t *testing.T) {
	f := setUp(t)
	leave := func() (job connector.JobID) { // a job that died between its RENAME and its clearing up
		job = connector.NewJobID()
		f.quick("DROP TABLE IF EXISTS t", "CREATE TABLE t (a INT)", "INSERT INTO t VALUES (1)")
		tx := f.stage("t", server.Replace, schema(t, "a INT")).(*staged)
		require.NoError(t, tx.Begin(f.ctx, job))
		f.quick(fmt.Sprintf("RENAME TABLE t TO `%s`, `%s` TO t, `%s` TO `%s`", ownName(job, displacedName), ownName(job, stagedName), ownName(job, markName), ownName(job, doneName)))
		tx.leave()
		f.s.answered(job)
		dead := f.stage("other", server.Create, schema(t, "a INT")).(*staged)
		require.NoError(t, dead.Begin(f.ctx, connector.NewJobID()))
		dead.leave()
		return job
	}
	live := f.stage("live", server.Create, schema(t, "a INT"))
	_, err := f.write(live, numbers(0, 10))
	require.NoError(t, err)

	job := leave()
	removed, kept, err := f.s.Sweep(f.ctx, f.db, func(id connector.JobID) bool { return true })
	require.NoError(t, err)
	require.Empty(t, removed)
	require.Len(t, kept, 6)
	names, err := f.s.ListTables(f.ctx, f.db)
	require.NoError(t, err)
	require.Equal(t, []string{"t"}, names)
	info, _, err := f.s.Describe(f.ctx, f.db, "t")
	require.NoError(t, err)
	require.Empty(t, info.Comment)
	require.NotContains(t, info.Text, "sluice")
	_, _, err = f.s.Sweep(f.ctx, f.db, nil)
	require.NoError(t, err)
	require.NotContains(t, f.ours(), job.String())

	for n := int32(1); ; n++ {
		leave()
		var count atomic.Int32
		s, p := f.through(func(d testserver.Direction, _ []byte) testserver.Verdict {
			if d == testserver.ToServer && count.Add(1) == n {
				return []testserver.Verdict{testserver.Cut, testserver.PassAndCut}[n%2]
			}
			return testserver.Pass
		})
		_, _, err := s.Sweep(f.ctx, f.db, nil)
		p.SetFilter(nil)
		for deadline := time.Now().Add(time.Minute); ; {
			_, _, err := f.s.Sweep(f.ctx, f.db, nil)
			require.NoError(t, err)
			if left := f.ours(); strings.Count(left, "\n") == 2 && strings.Count(left, live.(*staged).job.String()) == 2 {
				break
			}
			require.True(t, time.Now().Before(deadline), "cut at %d: %s", n, f.ours())
		}
		require.Equal(t, "0\n", f.quick("SELECT COUNT(*) FROM t"))
		if count.Load() < n {
			require.NoError(t, err)
			break
		}
	}
	out, err := live.Commit(f.ctx)
	require.NoError(t, err)
	require.Equal(t, connector.Done, out)

	// What somebody has done to the new table since does not matter.
	leave()
	f.quick("DROP TABLE t", "CREATE TABLE t (theirs INT)")
	f.swept("theirs")
	require.Contains(t, f.sql("SHOW CREATE TABLE t"), "theirs")
	// What was not moved aside by a job's one RENAME is not dropped.
	dead := f.stage("t", server.Replace, schema(t, "theirs INT")).(*staged)
	require.NoError(t, dead.Begin(f.ctx, connector.NewJobID()))
	dead.leave()
	f.quick("RENAME TABLE t TO `" + ownName(dead.job, displacedName) + "`")
	_, kept, err = f.s.Sweep(f.ctx, f.db, nil)
	require.NoError(t, err)
	require.Len(t, kept, 1)
	require.Contains(t, kept[0], "moved aside by somebody else")
	f.quick("RENAME TABLE `" + ownName(dead.job, displacedName) + "` TO t")
	// What only looks like ours is nobody's business.
	f.quick("CREATE TABLE _sluice_notes (a INT)", "CREATE TABLE _sluice_00000000000000000000000000000000_news (a INT)", "ALTER TABLE t COMMENT='sluice:{not ours}'")
	removed, kept, err = f.s.Sweep(f.ctx, f.db, nil)
	require.NoError(t, err)
	require.Empty(t, append(removed, kept...))
}
