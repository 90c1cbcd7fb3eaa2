package mysql

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// leftover is what a job has in a database.
type leftover struct {
	job       connector.JobID
	staged    bool   // _new is there
	displaced bool   // _old is there
	kept      bool   // _kept is there
	seen      string // how the table was seen that is _old now, by the comment of the mark
	marked    bool   // _mark is there
	done      bool   // _done is there
	aged      bool   // that or _mark has been there for so long that nobody asks for it
}

// there lists the tables of the job.
func (l *leftover) there(database string) (list []string) {
	for _, x := range []struct {
		ending string
		there  bool
	}{{stagedName, l.staged}, {displacedName, l.displaced}, {keptName, l.kept}, {markName, l.marked}, {doneName, l.done}} {
		if x.there {
			list = append(list, database+"."+ownName(l.job, x.ending))
		}
	}
	return list
}

// Sweep removes what dead jobs have left in a database. A job is dead when its lock can be had: the session that held
// it is over, wherever it came from. The error is also of tables that are kept for what would be lost with them.
func (s *Server) Sweep(ctx context.Context, database string, keep func(connector.JobID) bool) (removed, kept []string, err error) {
	err = s.with(ctx, "", func(c *conn) (err error) {
		removed, kept, err = c.sweep(ctx, database, keep)
		return err
	})
	return removed, kept, err
}

func (c *conn) sweep(ctx context.Context, database string, keep func(connector.JobID) bool) (removed, kept []string, err error) {
	if err := failpoint.Hit("recover.scan"); err != nil {
		return nil, nil, err
	}
	list, err := c.leftovers(ctx, database)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	if kind, err := c.cluster(ctx); err != nil || kind != "" {
		for _, l := range list {
			kept = append(kept, l.there(database)...) // their jobs may live on another node
		}
		return nil, kept, err
	}
	var told []error
	for _, l := range list {
		if keep != nil && keep(l.job) {
			kept = append(kept, l.there(database)...)
			continue
		}
		gone, left, err := c.sweepJob(ctx, database, l)
		removed, kept = append(removed, gone...), append(kept, left...)
		var k *KeptError
		switch {
		case errors.As(err, &k): // the rest goes all the same
			told = append(told, k)
		case err != nil:
			return removed, kept, err
		}
	}
	return removed, kept, errors.Join(told...)
}

// leftovers finds what is ours, by exact names.
func (c *conn) leftovers(ctx context.Context, database string) (list []*leftover, err error) {
	rows, err := c.query(ctx, fmt.Sprintf("SELECT TABLE_NAME, CREATE_TIME < NOW() - INTERVAL %d DAY, TABLE_COMMENT FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME LIKE '\\_sluice\\_%%'", markLife, literal(database)))
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		job, ending, own := parseOwn(r[0].text)
		if !own {
			continue
		}
		i := slices.IndexFunc(list, func(l *leftover) bool { return l.job == job })
		if i < 0 {
			i = len(list)
			list = append(list, &leftover{job: job})
		}
		l := list[i]
		switch ending {
		case stagedName:
			l.staged = true
		case displacedName:
			l.displaced = true
		case keptName:
			l.kept = true
		case markName:
			l.marked, l.aged, l.seen = true, r[1].text == "1", r[2].text
		case doneName:
			l.done, l.aged, l.seen = true, r[1].text == "1", r[2].text
		}
	}
	return list, nil
}

// sweepJob clears up after one job, of which this was seen. Each step may be the last: the next sweep goes on from
// there.
func (c *conn) sweepJob(ctx context.Context, database string, seen *leftover) (removed, kept []string, err error) {
	job := seen.job
	got, err := c.lockOfDead(ctx, job)
	if err != nil || !got {
		return nil, seen.there(database), err // it lives
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
	waits, err := c.waits(ctx, database, l)
	if err != nil {
		return nil, nil, err
	}
	if l.displaced && l.staged {
		// One RENAME moves both, or none: whoever has moved this one was not a job of ours.
		kept = append(kept, database+"."+ownName(job, displacedName)+": the table that a job was about to replace, moved aside by somebody else")
		l.displaced = false
	}
	var told error
	for _, x := range []struct {
		ending string
		there  bool
	}{{keptName, l.kept}, {displacedName, l.displaced}, {stagedName, l.staged}, {markName, l.marked && !waits}, {doneName, l.done && !waits}} {
		if !x.there {
			continue
		}
		name := ownName(job, x.ending)
		var err error
		switch x.ending {
		case keptName:
			err = c.kept(ctx, database, job)
		case displacedName:
			err = c.dropDisplaced(ctx, database, job, "", l.seen)
		default:
			err = c.dropOwn(ctx, database, job, x.ending)
		}
		var k *KeptError
		switch {
		case err == nil:
			removed = append(removed, database+"."+name)
		case errors.As(err, &k):
			told = k
		case lost(err):
			return removed, kept, err
		default:
			kept = append(kept, fmt.Sprintf("%s.%s: %s", database, name, err))
			if x.ending == displacedName { // which the mark tells of
				return removed, kept, told
			}
		}
	}
	return removed, kept, told
}
