package bind

import (
	"errors"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// A query runs in batch or in streaming mode. Where it is not said which, the tables that it reads decide,
// and those are known only when all of it is bound. So what one of the modes refuses is noted while binding,
// the first of each, and becomes an error at the end, by [Binder.checkMode].

// limits are what keeps a query from running in one of the modes.
type limits struct {
	stream    *sqlparse.Error // what streaming mode refuses first
	unbounded *unbounded      // the first table without an end, which batch mode refuses
}

// unbounded is a table whose rows have no end.
type unbounded struct {
	id connector.ObjectIdentifier
	at sqlparse.Span
}

// Mode is the mode that the statement runs in: what was asked for, or else streaming where a table that is
// read has no end, and batch where all have.
func (b *Binder) Mode() job.Mode {
	switch {
	case b.asked != "":
		return b.asked
	case b.limits.unbounded != nil:
		return job.Streaming
	}
	return job.Batch
}

// Bounded reports whether the rows of every table that is read have an end.
func (b *Binder) Bounded() bool { return b.limits.unbounded == nil }

// noStream notes what streaming mode refuses.
func (b *Binder) noStream(at sqlparse.Span, what string) {
	if b.limits.stream == nil {
		b.limits.stream = errAt(at, "%s is not supported in streaming mode yet", what)
	}
}

// scanned notes that a table is read.
func (b *Binder) scanned(t *plan.Table, opened connector.Table, name sqlparse.ObjectName) {
	if s, ok := opened.(connector.Bounded); ok && !s.Bounded() && b.limits.unbounded == nil {
		b.limits.unbounded = &unbounded{t.ID, name.Span()}
	}
}

// ofView puts what was noted in the text of a view, since before, at the view's name.
func (l limits) ofView(before limits, id connector.ObjectIdentifier, name sqlparse.ObjectName) limits {
	if before.stream == nil && l.stream != nil {
		errors.As(ofView(l.stream, id, name), &l.stream)
	}
	if before.unbounded == nil && l.unbounded != nil {
		l.unbounded = &unbounded{l.unbounded.id, name.Span()}
	}
	return l
}

// checkMode refuses a query that cannot run in its mode.
func (b *Binder) checkMode() error {
	u, no := b.limits.unbounded, b.limits.stream
	switch {
	case b.Mode() == job.Batch && u != nil:
		return withHint(errAt(u.at, "Querying an unbounded table '%s' in batch mode is not allowed. The table source is unbounded.", u.id),
			"SET 'execution.runtime-mode' = 'streaming', or 'automatic'")
	case b.Mode() == job.Streaming && no != nil && u != nil:
		return withHint(no, "table %s has no end, so that batch mode cannot run the query either", u.id)
	case b.Mode() == job.Streaming && no != nil:
		return withHint(no, "batch mode can: SET 'execution.runtime-mode' = 'batch'")
	}
	return nil
}
