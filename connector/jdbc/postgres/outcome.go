package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// The answer to a COMMIT may be lost. Before it is sent, the number of the transaction is noted, with what tells the
// server from another one at its address. The server knows for long what became of a transaction of a number.

// How long a COMMIT may be without an answer before the server is asked what the session does, and how long it is
// asked for the outcome when the link is lost.
const (
	commitPatience = 3 * time.Second
	resolveWait    = 30 * time.Second
	resolvePause   = 50 * time.Millisecond
)

// evidence tells a transaction from all others.
type evidence struct {
	xid      string // with its epoch
	system   string // of the server's data; "" where the user may not know
	timeline string // of the server's log: another one when a standby has taken over
	pid      string // of the session
	since    string // when the session began
}

// String is the form that is noted.
func (e evidence) String() string {
	v := url.Values{"xid": {e.xid}, "system": {e.system}, "timeline": {e.timeline}, "pid": {e.pid}, "since": {e.since}}
	return "postgresql?" + v.Encode()
}

func parseEvidence(text string) (e evidence, err error) {
	u, err := url.Parse(text)
	if err == nil {
		v := u.Query()
		e = evidence{v.Get("xid"), v.Get("system"), v.Get("timeline"), v.Get("pid"), v.Get("since")}
	}
	if err != nil || u.Path != "postgresql" || e.xid == "" {
		return e, errors.New("the note of the commit is not one of PostgreSQL")
	}
	return e, nil
}

// serverIdentity are the system and the timeline. The latter is that of the log which is written now: the one of the last
// checkpoint lags behind after a standby has taken over. A standby has none.
const serverIdentity = `CASE WHEN pg_catalog.has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE') THEN (SELECT system_identifier::pg_catalog.text FROM pg_catalog.pg_control_system()) END AS system,
CASE WHEN NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.has_function_privilege('pg_catalog.pg_walfile_name(pg_catalog.pg_lsn)', 'EXECUTE')
  THEN pg_catalog.ltrim(pg_catalog.substr(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()), 1, 8), '0') END AS timeline`

// take notes the open transaction.
func (c *conn) take(ctx context.Context) (e evidence, err error) {
	row, err := c.row(ctx, 5, "SELECT pg_catalog.txid_current(), pg_catalog.pg_backend_pid(), (SELECT a.backend_start FROM pg_catalog.pg_stat_activity a WHERE a.pid = pg_catalog.pg_backend_pid()), "+serverIdentity)
	if err != nil {
		return e, err
	}
	return evidence{xid: text(row[0]), pid: text(row[1]), since: text(row[2]), system: text(row[3]), timeline: text(row[4])}, nil
}

// commit ends the open transaction of c. note, when there is one, keeps the evidence before. Only an error that the
// server answers is certain to be one; when there is no answer the server is asked. With Done it is what the server
// warns of. c is the caller's to close.
func (s *Server) commit(ctx context.Context, c *conn, note func(string) error) (connector.Outcome, error) {
	e, err := c.take(ctx)
	if err != nil {
		return connector.NotDone, err
	}
	if note != nil {
		if err := note(e.String()); err != nil {
			return connector.NotDone, err
		}
	}
	if err := failpoint.Hit("publish.before"); err != nil {
		return connector.NotDone, err
	}
	if c.broken != nil {
		return connector.NotDone, c.broken
	}
	if ctx.Err() != nil {
		return connector.NotDone, context.Cause(ctx)
	}
	var warned error
	c.warned = func(w *Error) { warned = errors.Join(warned, w) }
	tag, err := c.sendCommit(ctx, e)
	c.warned = nil
	if failpoint.Mutant("commit-reply-ignored") {
		return connector.Done, nil
	}
	switch {
	case err == nil && tag == "COMMIT":
		if warned != nil {
			warned = fmt.Errorf("the rows are committed, and the server warns: %w", warned)
		}
		return connector.Done, warned
	case err == nil: // ROLLBACK: an earlier error had ended the transaction
		return connector.NotDone, errors.New("the transaction had failed before; nothing was stored")
	case !c.lost:
		return connector.NotDone, err
	}
	out, why := s.resolve(ctx, c.database, e, true)
	switch out {
	case connector.Done:
		return out, nil
	case connector.NotDone:
		return out, err
	}
	return out, fmt.Errorf("%w; %w", err, why)
}

// sendCommit sends COMMIT and waits for the answer. The end of ctx ends the wait, not the commit. When the answer takes
// long the server is asked whether it is at work: the message or its answer may have been lost while the link looks
// alive.
func (c *conn) sendCommit(ctx context.Context, e evidence) (tag string, err error) {
	conn := c.pc.Conn()
	giveUp := func() { _ = conn.SetDeadline(time.Unix(1, 0)) }
	off := context.AfterFunc(ctx, giveUp)
	defer off()
	asked, stop := context.WithCancel(ctx)
	answered, watched := make(chan struct{}), make(chan struct{})
	hear := sync.OnceFunc(func() { close(answered) })
	defer hear()   // a panic is to leave nobody behind
	ended := false // by us; read when watched is closed
	go func() {
		defer close(watched)
		for {
			t := time.NewTimer(commitPatience)
			select {
			case <-answered:
				t.Stop()
				return
			case <-t.C:
			}
			patient, stop := context.WithTimeout(asked, commitPatience)
			busy, over := c.s.busy(patient, c.database, e)
			stop()
			if ended = over; !busy && asked.Err() == nil {
				giveUp()
				return
			}
		}
	}()
	defer stop()
	c.fe.SendQuery(&pgproto3.Query{String: "COMMIT"})
	if err = c.fe.Flush(); err == nil {
		err = failpoint.Hit("publish.sent")
	}
	var r result
	if err == nil {
		err = c.answer(&r)
	}
	hear()
	if err == nil {
		stop()
	}
	<-watched
	var own *Error
	switch {
	case err != nil && ended:
		return "", c.lose(errors.New("COMMIT did not come to the server"))
	case err == nil:
		return r.tag, nil
	case errors.As(err, &own) && !own.fatal:
		return "", err
	case errors.As(err, &own):
		c.lost, c.broken = true, err
		return "", err
	}
	return "", c.lose(err)
}

// busy reports whether the server is at work for the session of a transaction, as far as it can be asked. When the
// session waits for its client, what we sent did not come, and it is ended.
func (s *Server) busy(ctx context.Context, database string, e evidence) (busy, ended bool) {
	busy = true
	_ = s.with(ctx, database, func(c *conn) error {
		r, err := c.query(ctx, "SELECT a.state, CASE WHEN a.state LIKE 'idle in transaction%' THEN pg_catalog.pg_terminate_backend(a.pid) END FROM pg_catalog.pg_stat_activity a WHERE a.pid = $1::pg_catalog.int4 AND a.backend_start = $2::pg_catalog.timestamptz", e.pid, e.since)
		// The state of others' sessions is not shown to everybody; this one is the user's own.
		busy = err != nil || len(r.rows) > 0 && !strings.HasPrefix(text(r.rows[0][0]), "idle")
		ended = err == nil && len(r.rows) > 0 && yes(r.rows[0][1])
		return err
	})
	return busy, ended
}

// resolve asks what became of a transaction until that is decided. With own its session is ours and of no more use:
// when it waits for us it is ended.
func (s *Server) resolve(ctx context.Context, database string, e evidence, own bool) (connector.Outcome, error) {
	if own { // the limit of the commit has nothing to do with how long the server may be asked
		ctx = context.WithoutCancel(ctx)
	}
	ctx, stop := context.WithTimeoutCause(ctx, s.patience, errResolve)
	defer stop()
	var why error
	for {
		status := ""
		err := s.with(ctx, database, func(c *conn) (err error) {
			status, err = c.status(ctx, e)
			return err
		})
		var other *otherServerError
		switch {
		case errors.As(err, &other):
			return connector.Unknown, err
		case err != nil:
			if ctx.Err() == nil || why == nil {
				why = err
			}
		case status == "committed":
			return connector.Done, nil
		case status == "aborted":
			return connector.NotDone, nil
		case status == "":
			return connector.Unknown, &forgottenError{fmt.Sprintf("%s: the server does not know any more what became of transaction %s", s.place(database), e.xid)}
		default:
			why = fmt.Errorf("%s: transaction %s is still open there", s.place(database), e.xid)
			if own {
				s.busy(ctx, database, e)
			}
		}
		t := time.NewTimer(resolvePause)
		select {
		case <-ctx.Done():
			t.Stop()
			return connector.Unknown, fmt.Errorf("whether the rows were committed cannot be told now: %w", why)
		case <-t.C:
		}
	}
}

var errResolve = errors.New("the server did not tell in time")

// otherServerError says that the server asked is not the one that was written.
type otherServerError struct{ msg string }

// Error says how that is known.
func (e *otherServerError) Error() string { return e.msg }

// forgottenError says that a transaction is too long ago.
type forgottenError struct{ msg string }

// Error says which.
func (e *forgottenError) Error() string { return e.msg }

// Is reports that it is a [connector.ErrUntold].
func (e *forgottenError) Is(target error) bool { return target == connector.ErrUntold }

// status is what the server says of a transaction: committed, aborted, in progress, or "" when it is too long ago.
func (c *conn) status(ctx context.Context, e evidence) (string, error) {
	row, err := c.row(ctx, 4, "WITH here AS MATERIALIZED (SELECT pg_catalog.pg_is_in_recovery() AS standby, "+serverIdentity+`)
SELECT standby, system, timeline, CASE WHEN standby OR system <> nullif($2, '') OR timeline <> nullif($3, '') THEN NULL ELSE pg_catalog.txid_status($1::pg_catalog.int8) END FROM here`, e.xid, e.system, e.timeline)
	if err != nil {
		return "", err
	}
	switch system, timeline := text(row[1]), text(row[2]); {
	case e.system != "" && system != "" && system != e.system:
		return "", &otherServerError{c.s.place(c.database) + ": another server is at this address now than the one that was written"}
	case e.timeline != "" && timeline != "" && timeline != e.timeline:
		return "", &otherServerError{fmt.Sprintf("%s: another server has taken over since the rows were written (timeline %s, now %s), and may not have all that was committed; look whether the rows are there", c.s.place(c.database), e.timeline, timeline)}
	case yes(row[0]):
		// It follows another server, or will take over from it.
		return "", fmt.Errorf("%s: the server is a standby, which does not know what became of a transaction of its primary", c.s.place(c.database))
	}
	return text(row[3]), nil
}

// Outcome asks what became of a transaction by its evidence.
func (s *Server) Outcome(ctx context.Context, database, note string) (connector.Outcome, error) {
	e, err := parseEvidence(note)
	if err != nil {
		return connector.Unknown, err
	}
	return s.resolve(ctx, database, e, false)
}

// Sweep finds nothing: all that a transaction makes goes with it.
func (s *Server) Sweep(context.Context, string, func(connector.JobID) bool) (removed, kept []string, err error) {
	return nil, nil, nil
}
