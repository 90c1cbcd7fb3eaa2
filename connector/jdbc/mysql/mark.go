package mysql

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/sluice-sql/sluice/connector"
)

// The mark of a job is a small table by which anybody can tell later whether the job's commit happened: a transaction
// puts a row into it, a RENAME that publishes a table gives it another name. It goes when the job knows the outcome. When
// the job died before, a mark that says no goes with whatever else the job has left, while one that says yes stays for
// the question of the job's own journal.

// markLife is how many days a mark that says yes waits for a journal that does not ask. The server's clock counts.
const markLife = 7

// makeMark makes the job's mark. Its comment says how the table to be replaced was seen, "" where there is none.
func (t *session) makeMark(ctx context.Context, seen string) error {
	now, err := t.c.now(ctx)
	if err != nil {
		return err
	}
	t.since = now
	_, err = t.c.exec(ctx, "CREATE TABLE "+qualified(t.database, ownName(t.job, markName))+" (n INT NOT NULL PRIMARY KEY) ENGINE=InnoDB COMMENT="+literal(seen))
	t.marked = err == nil || lost(err) // then it may be there, and is dropped
	return err
}

// now is the server's clock, in seconds.
func (c *conn) now(ctx context.Context) (int64, error) {
	v, err := c.value(ctx, "SELECT UNIX_TIMESTAMP()")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(v.text, 10, 64)
}

// verdict reads the mark of a job whose session is over.
func (c *conn) verdict(ctx context.Context, e evidence) (connector.Outcome, error) {
	var there [3]bool
	for i, ending := range []string{doneName, stagedName, markName} {
		var err error
		if there[i], err = c.tableNamed(ctx, e.Database, ownName(e.Job, ending)); err != nil {
			return connector.Unknown, err
		}
	}
	done, staged, marked := there[0], there[1], there[2]
	switch {
	case done:
		return connector.Done, nil
	case e.Staged && (staged || marked):
		return connector.NotDone, nil
	case marked:
		n, err := c.value(ctx, "SELECT COUNT(*) FROM "+qualified(e.Database, ownName(e.Job, markName)))
		switch {
		case err != nil:
			return connector.Unknown, err
		case n.text == "0":
			return connector.NotDone, nil
		}
		return connector.Done, nil
	case e.ID != "" && c.tableID(ctx, e.Database, e.Table) == e.ID:
		return connector.Done, nil
	case e.Since > 0:
		now, err := c.now(ctx)
		if err != nil {
			return connector.Unknown, err
		}
		if now-e.Since < (markLife-1)*24*60*60 { // a mark that says yes would be there
			return connector.NotDone, nil
		}
	}
	return connector.Unknown, &ChangedError{fmt.Sprintf("whether the rows of table %s were committed cannot be told: the job's mark is gone", e.Table)}
}

// answered notes that a journal here has asked for a commit that happened, and needs its mark no longer.
func (s *Server) answered(job connector.JobID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answers == nil {
		s.answers = map[connector.JobID]bool{}
	}
	s.answers[job] = true
}

// waits reports whether a mark waits for the journal of its job. aged: it has waited long enough.
func (c *conn) waits(ctx context.Context, database string, l *leftover) (bool, error) {
	c.s.mu.Lock()
	answered := c.s.answers[l.job]
	c.s.mu.Unlock()
	if answered || l.aged || !l.marked && !l.done {
		return false, nil
	}
	if l.done {
		return true, nil
	}
	n, err := c.value(ctx, "SELECT COUNT(*) FROM "+qualified(database, ownName(l.job, markName)))
	if isDenied(err) {
		return true, nil
	}
	return n.text != "0", err
}

// How long the session of a process that died is waited for, how often it is looked at, and how many looks that find
// it idle are enough.
const (
	deadWait  = 5 * time.Second
	deadPause = 20 * time.Millisecond
	deadIdle  = 10
)

// lockOfDead takes the lock of a job that is dead; false: it lives. The session of a process that died goes on with
// what it was told last, and then rolls back, before the server lets go of its lock: that is waited for. A session that
// has nothing to do, or is told something new, is of a process that lives.
func (c *conn) lockOfDead(ctx context.Context, job connector.JobID) (bool, error) {
	name := lockName(job)
	told, idle := "", 0
	for deadline := time.Now().Add(deadWait); ; {
		got, err := c.lock(ctx, name, 0)
		if err != nil {
			return false, err
		}
		if got {
			// Whoever looks what became of the commit goes first: that may be the job itself by another session.
			free, err := c.value(ctx, "SELECT IS_FREE_LOCK("+literal(askName(job))+")")
			if err != nil || free.text != "1" {
				c.unlock(ctx, name)
				return false, err
			}
			return true, nil
		}
		rows, err := c.query(ctx, "SELECT COMMAND, MD5(INFO) FROM information_schema.PROCESSLIST WHERE ID = IS_USED_LOCK("+literal(name)+")")
		if err != nil {
			return false, err
		}
		switch {
		case len(rows) == 0 || rows[0][0].text == "Sleep": // over, or another user's and not to be seen, or idle
			idle++
		case rows[0][0].text == "Query" && told != "" && told != rows[0][1].text:
			return false, nil
		case rows[0][0].text == "Query":
			told, idle = rows[0][1].text, 0
		default: // it is being ended
			idle = 0
		}
		if idle == deadIdle || time.Now().After(deadline) {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(deadPause):
		}
	}
}
