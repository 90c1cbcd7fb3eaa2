package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// leftover is what a job has in a database.
type leftover struct {
	job       connector.JobID
	staged    bool  // _new is there
	displaced bool  // _old is there
	marked    bool  // _mark is there
	published *mark // of a table that the job has published, or of one that has replaced it since
	stands    bool  // it still has its name
}

// there lists the tables of the job.
func (l *leftover) there(database string) (list []string) {
	for _, x := range []struct {
		ending string
		there  bool
	}{{stagedName, l.staged}, {displacedName, l.displaced}, {markName, l.marked}} {
		if x.there {
			list = append(list, database+"."+ownName(l.job, x.ending))
		}
	}
	return list
}

// Sweep removes what dead jobs have left in a database. A job is dead when its lock can be had: the session that held
// it is over, wherever it came from. The error is also of tables that are kept for what would be lost with them.
func (s *Server) Sweep(ctx context.Context, database string, keep func(connector.JobID) bool) (removed, kept []string, err error) {
	var told []error
	err = s.with(ctx, "", func(c *conn) error {
		if err := failpoint.Hit("recover.scan"); err != nil {
			return err
		}
		list, err := c.leftovers(ctx, database)
		if err != nil {
			return err
		}
		for _, l := range list {
			if keep != nil && keep(l.job) {
				kept = append(kept, l.there(database)...)
				continue
			}
			gone, left, err := c.sweepJob(ctx, database, l.job, l.there(database))
			removed, kept = append(removed, gone...), append(kept, left...)
			var k *KeptError
			switch {
			case errors.As(err, &k): // the rest goes all the same
				told = append(told, k)
			case err != nil:
				return err
			}
		}
		return errors.Join(told...)
	})
	return removed, kept, err
}

// leftovers finds what is ours, by exact names and by marks.
func (c *conn) leftovers(ctx context.Context, database string) (list []*leftover, err error) {
	rows, err := c.query(ctx, "SELECT TABLE_NAME, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(database)+
		" AND (TABLE_NAME LIKE '\\_sluice\\_%' OR TABLE_COMMENT LIKE 'sluice:{%')")
	if err != nil {
		return nil, err
	}
	of := func(job connector.JobID) *leftover {
		i := slices.IndexFunc(list, func(l *leftover) bool { return l.job == job })
		if i < 0 {
			i = len(list)
			list = append(list, &leftover{job: job})
		}
		return list[i]
	}
	for _, r := range rows {
		job, ending, own := parseOwn(r[0].text)
		// A table with a mark that is not being filled was published; by now another job may have replaced it.
		if m, _ := parseMark(r[1].text); m != nil && (own && ending == displacedName || !isOurs(r[0].text) && m.Table == r[0].text) {
			of(m.Job).published, of(m.Job).stands = m, !own
			for _, past := range m.Past {
				if l := of(past); l.published == nil {
					l.published = m
				}
			}
		}
		if !own {
			continue
		}
		switch ending {
		case stagedName:
			of(job).staged = true
		case displacedName:
			of(job).displaced = true
		case markName:
			of(job).marked = true
		}
	}
	return list, nil
}

// sweepJob clears up after one job, of which there are these tables. Each step may be the last: the next sweep goes
// on from there.
func (c *conn) sweepJob(ctx context.Context, database string, job connector.JobID, there []string) (removed, kept []string, err error) {
	got, err := c.lockOfDead(ctx, lockName(job))
	if err != nil || !got {
		return nil, there, err // it lives
	}
	defer c.unlock(ctx, lockName(job))
	if err := failpoint.Hit("recover.decide"); err != nil {
		return nil, nil, err
	}
	// The job may have gone on between the look at the names and the lock.
	list, err := c.leftovers(ctx, database)
	if err != nil {
		return nil, nil, err
	}
	i := slices.IndexFunc(list, func(o *leftover) bool { return o.job == job })
	if i < 0 {
		return nil, nil, nil
	}
	l := list[i]
	if err := failpoint.Hit("recover.act"); err != nil {
		return nil, nil, err
	}
	if _, err := c.exec(ctx, "SET SESSION lock_wait_timeout=2"); err != nil {
		return nil, nil, err
	}
	drop := func(ending string) error {
		name := ownName(job, ending)
		replaced := ""
		if l.published != nil {
			replaced = l.published.Table
		}
		err := c.dropOwn(ctx, database, job, ending, replaced)
		var k *KeptError
		switch {
		case err == nil:
			removed = append(removed, database+"."+name)
		case errors.As(err, &k) || lost(err):
			return err
		default:
			kept = append(kept, fmt.Sprintf("%s.%s: %s", database, name, err))
		}
		return nil
	}
	if l.staged {
		if err := drop(stagedName); err != nil {
			return removed, kept, err
		}
	}
	if l.marked {
		if err := drop(markName); err != nil {
			return removed, kept, err
		}
	}
	if l.displaced {
		if l.published == nil {
			// Somebody has altered, renamed or dropped what took its place: it is not ours to drop.
			kept = append(kept, database+"."+ownName(job, displacedName)+": the table that a job replaced, and whose place another session has changed since")
			return removed, kept, nil
		}
		if err := drop(displacedName); err != nil || len(kept) > 0 {
			return removed, kept, err
		}
	}
	if l.stands {
		switch cleared, err := c.clearPast(ctx, database, l.published.Table, l.published.Past); {
		case lost(err):
			return removed, kept, err
		case err != nil || !cleared:
			return removed, kept, nil // another sweep's turn
		}
		if err := c.unmark(ctx, database, l.published.Table, job); lost(err) {
			return removed, kept, err
		}
	}
	return removed, kept, nil
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
func (c *conn) lockOfDead(ctx context.Context, name string) (bool, error) {
	told, idle := "", 0
	for deadline := time.Now().Add(deadWait); ; {
		got, err := c.lock(ctx, name, 0)
		if got || err != nil {
			return got, err
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
