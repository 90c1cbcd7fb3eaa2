package mysql

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// Limits of the time that the end of a job takes.
const (
	publishWait = 30 // seconds that RENAME waits for others that use a table
	lookTime    = 40 * time.Second
	lookPause   = 200 * time.Millisecond
	abortTime   = 20 * time.Second
)

// session is what the transactions of tables have in common: the session of the job with its lock, and how far it is.
type session struct {
	s              *Server
	database, name string
	note           func(string) error // notes evidence; nil: nobody asks later

	mu      sync.Mutex
	job     connector.JobID
	c       *conn
	load    *loader
	err     error // the first: nothing is written after it
	begun   bool
	sealed  bool
	ended   bool
	outcome connector.Outcome // valid when ended
	stored  int64
	marked  bool  // the job has a mark
	since   int64 // when the mark was made, in seconds of the server's clock
	// evidence is what was noted last.
	evidence *evidence
}

// Key names the server and the user.
func (t *session) Key() string { return t.s.Key() }

// NoteEvidence is called before Begin.
func (t *session) NoteEvidence(note func(string) error) { t.note = note }

// enter opens the job's session and takes its lock, by which others see that the job lives.
func (t *session) enter(ctx context.Context, job connector.JobID, found bool) (err error) {
	if t.begun {
		return errors.New("the transaction has begun before")
	}
	t.begun, t.job = true, job
	if t.c, err = t.s.open(ctx, t.database, found); err != nil {
		return err
	}
	name := lockName(job)
	if failpoint.Mutant("lock-not-held") {
		name += " of nobody"
	}
	got, err := t.c.lock(ctx, name, 0)
	if err == nil && !got {
		err = fmt.Errorf("job %s is already at work on the server", job)
	}
	if err != nil {
		return err
	}
	return failpoint.Hit("begin.lock")
}

// Writer returns the one writer.
func (t *session) writer(run func(context.Context, *column.Batch) error) (connector.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, t.err
	case !t.begun || t.sealed || t.ended:
		return nil, errors.New("no transaction is open for writing")
	}
	return &writer{t, run}, nil
}

// writer writes what it is given by the job's one session; several writers take turns.
type writer struct {
	t   *session
	run func(context.Context, *column.Batch) error
}

// Write stores the rows of every batch.
func (w *writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	for {
		b, err := next()
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err := w.t.take(ctx, b, err, w.run); err != nil || b == nil {
			return err
		}
	}
}

// take stores a batch, or the error that came in its place.
func (t *session) take(ctx context.Context, b *column.Batch, err error, run func(context.Context, *column.Batch) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	if t.sealed || t.ended {
		return errors.New("the transaction is not open for writing any more")
	}
	if err == nil && b != nil {
		err = run(ctx, b)
	}
	if err != nil {
		t.err = err
	}
	return err
}

// Close has nothing to close: what was written stays in the transaction.
func (w *writer) Close() error { return nil }

// sealOnce runs seal, and returns how many rows are stored; a repeated call returns the same.
func (t *session) sealOnce(ctx context.Context, seal func(context.Context) error) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return 0, t.err
	case t.sealed:
		return t.stored, nil
	case !t.begun || t.ended:
		return 0, errors.New("no transaction is open")
	}
	if err := seal(ctx); err != nil {
		return 0, t.fail(err)
	}
	t.sealed = true
	return t.stored, nil
}

// fail keeps the first error.
func (t *session) fail(err error) error {
	if t.err == nil {
		t.err = err
	}
	return err
}

// leave ends the job's session, and with it its lock.
func (t *session) leave() {
	if t.c != nil {
		_ = t.c.close()
		t.c = nil
	}
	t.load = nil
}

// finish settles how the job ended.
func (t *session) finish(out connector.Outcome, err error) (connector.Outcome, error) {
	t.ended, t.outcome = true, out
	if out == connector.Done {
		t.err = nil
		return out, err
	}
	return out, t.fail(err)
}

// errBrokenOff ends a commit that a fault of ours broke off.
var errBrokenOff = errors.New("the commit was broken off")

// unbroken runs a commit. When that panics, nobody knows how far it came, and its session is of no more use.
func (t *session) unbroken(commit func() (connector.Outcome, error)) (connector.Outcome, error) {
	returned := false
	defer func() {
		if returned {
			return
		}
		if !t.ended {
			_, _ = t.finish(connector.Unknown, errBrokenOff)
		}
		t.hangUp()
	}()
	out, err := commit()
	returned = true
	return out, err
}

// settled returns what a repeated Commit, or one that may not be, has for an answer.
func (t *session) settled() (out connector.Outcome, err error, ok bool) {
	return connector.Settled(t.sealed, t.ended, t.outcome, t.err)
}

// evidence is what is noted before a commit, to ask the server by later.
type evidence struct {
	Job      connector.JobID `json:"job"`
	Database string          `json:"database"`
	Table    string          `json:"table"`
	// Staged says that a table is renamed; else a marked transaction is committed.
	Staged bool `json:"staged,omitempty"`
	// ID is the number by which InnoDB knows the staged table, where we may know it: no RENAME changes it.
	ID string `json:"id,omitempty"`
	// Since is when the mark was made, in seconds of the server's clock.
	Since int64 `json:"since,omitempty"`
	// Known is the outcome, noted before that by which it could be asked for goes.
	Known *connector.Outcome `json:"known,omitempty"`
}

// noted has the evidence written down.
func (t *session) noted(e evidence) error {
	if t.note == nil {
		return nil
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	t.evidence = &e
	return t.note(string(text))
}

// known has the outcome written down when evidence was: the clean-up that follows removes what the evidence is of.
func (t *session) known(out connector.Outcome) error {
	if t.evidence == nil {
		return nil
	}
	e := *t.evidence
	e.Known = &out
	return t.noted(e)
}

// Outcome asks the server by what was noted.
func (s *Server) Outcome(ctx context.Context, database, text string) (connector.Outcome, error) {
	var e evidence
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return connector.Unknown, fmt.Errorf("the evidence noted cannot be read: %w", err)
	}
	if e.Database == "" {
		e.Database = database
	}
	out, err := connector.Done, error(nil)
	if e.Known != nil {
		out = *e.Known
	} else {
		out, err = s.look(ctx, e, func() {})
	}
	if out == connector.Done {
		s.answered(e.Job)
	}
	return out, err
}

// look finds out what became of a commit: it waits until the session of the job is over, which its lock tells,
// and then looks at what is there. Unless ctx ends first it tries again while the server cannot be reached. letGo is
// called once nobody else can take the job for a dead one.
func (s *Server) look(ctx context.Context, e evidence, letGo func()) (connector.Outcome, error) {
	for {
		out, err := s.lookOnce(ctx, e, letGo)
		if out != connector.Unknown || !transient(err) && ctx.Err() == nil {
			return out, err
		}
		select {
		case <-ctx.Done():
			return connector.Unknown, fmt.Errorf("whether the rows were committed cannot be told now: %w", err)
		case <-time.After(lookPause):
		}
	}
}

func (s *Server) lookOnce(ctx context.Context, e evidence, letGo func()) (out connector.Outcome, err error) {
	out = connector.Unknown
	err = s.with(ctx, "", func(c *conn) error {
		if err := c.await(ctx, askName(e.Job)); err != nil {
			return err
		}
		letGo()
		if err := c.awaitEnd(ctx, lockName(e.Job)); err != nil {
			return err
		}
		out, err = c.verdict(ctx, e)
		return err
	})
	return out, err
}

// await takes a lock as soon as it is free.
func (c *conn) await(ctx context.Context, name string) error {
	for {
		if got, err := c.lock(ctx, name, time.Second); got || err != nil {
			return err
		}
	}
}

// awaitEnd takes the lock of a job that has lost its session, or is dead, as soon as that session is over. The server may
// not have noticed that nobody is at the other end: a session that has nothing to do is ended.
func (c *conn) awaitEnd(ctx context.Context, name string) error {
	idle := ""
	for {
		if got, err := c.lock(ctx, name, time.Second); got || err != nil {
			return err
		}
		id, err := c.value(ctx, "SELECT ID FROM information_schema.PROCESSLIST WHERE ID = IS_USED_LOCK("+literal(name)+") AND COMMAND = 'Sleep'")
		switch {
		case err != nil:
			return err
		case id.null || id.text != idle: // what it was told last may have come just now
			idle = id.text
			continue
		}
		if _, err := c.exec(ctx, "KILL "+id.text); lost(err) {
			return err
		}
	}
}

// ChangedError says that what a commit would be known by is gone.
type ChangedError struct{ msg string }

// Error is the message.
func (e *ChangedError) Error() string { return e.msg }

// Is reports that it is a [connector.ErrUntold].
func (e *ChangedError) Is(target error) bool { return target == connector.ErrUntold }

// tableNamed reports whether there is a table of a name of ours.
func (c *conn) tableNamed(ctx context.Context, database, name string) (bool, error) {
	n, err := c.value(ctx, "SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+literal(database)+" AND TABLE_NAME = "+literal(name))
	return n.text != "0", err
}

// tableID is InnoDB's number of a table, "" when it cannot be known.
func (c *conn) tableID(ctx context.Context, database, name string) string {
	from := "information_schema.INNODB_TABLES"
	if c.maria {
		from = "information_schema.INNODB_SYS_TABLES"
	}
	// Only names that InnoDB keeps as they are.
	for _, r := range database + name {
		if !(r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return ""
		}
	}
	id, err := c.value(ctx, "SELECT TABLE_ID FROM "+from+" WHERE NAME = "+literal(database+"/"+name))
	if err != nil || id.null {
		return ""
	}
	return id.text
}
