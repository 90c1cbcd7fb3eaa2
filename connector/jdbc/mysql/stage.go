package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/connector/jdbc/server"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/types"
)

// flushesToCommit is after how many INSERTs the rows of a staged table are committed: they are hidden anyway, and
// a shorter transaction is cheaper to end.
const flushesToCommit = 64

// stageRights are those that a hidden table and its RENAME need.
const stageRights = "CREATE, DROP, ALTER, INSERT"

// staged makes a table under a name of ours, and publishes it by RENAME TABLE.
type staged struct {
	session
	target  server.Target
	old     *table // that gives way; nil: none
	oldID   string // InnoDB's number of it, where it may be known
	seen    string // how it was seen
	columns []target
	made    bool
	id      string
}

var _ connector.Transaction = (*staged)(nil)
var _ connector.Evident = (*staged)(nil)

// Stage returns the transaction of a table that is made or replaced.
func (s *Server) Stage(t server.Target) connector.Transaction {
	return &staged{session: session{s: s, database: t.Database, name: t.Table}, target: t}
}

// CheckStage says whether a table would be made all or nothing, and what stands in its way.
func (s *Server) CheckStage(ctx context.Context, t server.Target) (reason string, notes []string, err error) {
	err = s.with(ctx, "", func(c *conn) error {
		old, err := c.checkTarget(ctx, t)
		if err != nil {
			return err
		}
		if _, _, err := createTable(quote(t.Table), t.Definition, &c.facts); err != nil {
			return err
		}
		reason = "a hidden table of " + c.product() + ", published by one RENAME TABLE"
		if old != nil {
			notes = append(notes, "the old table stands to the end, and is dropped after the RENAME that exchanges the two; rights granted on the table stay")
			if now := old.primary(); len(now) > 0 && !sameNames(now, t.Definition.Schema.PrimaryKey) {
				notes = append(notes, "the old table has the PRIMARY KEY ("+strings.Join(now, ", ")+"), which the new one has not")
			}
			switch _, changed, err := c.collationsLost(ctx, old, t.Definition); {
			case err != nil:
				return err
			case len(changed) > 0:
				notes = append(notes, "the new table's texts have the collation "+c.collation()+", which tells them all apart; the old table's columns have another: "+strings.Join(changed, ", "))
			}
		}
		if c.flush != 1 {
			notes = append(notes, fmt.Sprintf("the server has innodb_flush_log_at_trx_commit = %d: what it says is committed may be lost when its machine loses power", c.flush))
		}
		return nil
	})
	return reason, notes, err
}

// checkTarget checks that a table can be made under the name of a target, and returns the one that gives way.
func (c *conn) checkTarget(ctx context.Context, t server.Target) (old *table, err error) {
	if !c.atomicDDL() {
		return nil, fmt.Errorf("%s does not survive a crash within RENAME TABLE whole, so that a table cannot be made all or nothing: it takes MySQL 8.0 or MariaDB 10.6", c.product())
	}
	if err := checkNew(t.Table); err != nil {
		return nil, err
	}
	if err := c.oneNode(ctx); err != nil {
		return nil, err
	}
	if err := c.exactDatabase(ctx, t.Database); err != nil {
		return nil, err
	}
	if t.Mode == server.Create {
		return nil, c.taken(ctx, t.Database, t.Table)
	}
	old, near, err := c.describe(ctx, t.Database, t.Table)
	switch {
	case err != nil:
		return nil, err
	case old == nil && near != "" && c.folding != 0:
		return nil, &server.ExistsError{Table: t.Table, Taken: near, Kind: "table"}
	case old == nil && t.Mode == server.Replace:
		return nil, fmt.Errorf("%w: %s", server.ErrNotThere, t.Table)
	case old == nil:
		return nil, nil
	case old.view():
		return nil, fmt.Errorf("%s is a view of MySQL: DROP VIEW it first", t.Table)
	}
	loses, err := c.wouldLose(ctx, old, t.Definition)
	if err == nil && len(loses) > 0 {
		err = fmt.Errorf("table %s is not replaced, since with the old table would be lost: %s; DELETE FROM it and INSERT INTO it, or drop them first", t.Table, strings.Join(loses, ", "))
	}
	return old, err
}

// Begin makes the hidden table.
func (t *staged) Begin(ctx context.Context, job connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	err := t.begin(ctx, job)
	if err != nil {
		t.fail(err)
	}
	return err
}

func (t *staged) begin(ctx context.Context, job connector.JobID) (err error) {
	if err := t.enter(ctx, job, false); err != nil {
		return err
	}
	if t.old, err = t.c.checkTarget(ctx, t.target); err != nil {
		return err
	}
	if t.old != nil {
		t.oldID = t.c.tableID(ctx, t.database, t.name)
		t.seen = seenAs(t.old, t.oldID)
	}
	name := ownName(job, stagedName)
	ddl, _, err := createTable(qualified(t.database, name), t.target.Definition, &t.c.facts)
	if err != nil {
		return err
	}
	lacks, err := t.c.lacks(ctx, t.database, name, "DROP", "ALTER", "INSERT")
	if err != nil {
		return err
	}
	if len(lacks) > 0 {
		return t.c.grant(ctx, t.name, t.database, stageRights, strings.Join(lacks, " and "))
	}
	if err := t.makeMark(ctx, t.seen); isDenied(err) {
		return t.c.grant(ctx, t.name, t.database, stageRights, "CREATE")
	} else if err != nil {
		return fmt.Errorf("table %s: %w", t.name, err)
	}
	t.made = true // maybe, if the answer is lost
	if _, err := t.c.exec(ctx, ddl); err != nil {
		return fmt.Errorf("table %s: %w", t.name, limits(err))
	}
	made, _, err := t.c.describe(ctx, t.database, name)
	if err != nil {
		return err
	}
	if err := t.asDeclared(made); err != nil {
		return err
	}
	t.id = t.c.tableID(ctx, t.database, name)
	if _, err := t.c.exec(ctx, "SET SESSION autocommit=0"); err != nil {
		return err
	}
	t.load = newLoader(t.c, qualified(t.database, name), t.name, t.columns, "")
	return failpoint.Hit("begin.staged")
}

// asDeclared makes sure that the table is what was asked for: a server may be set up to take other types or engines
// without a word.
func (t *staged) asDeclared(made *table) error {
	if made == nil || !strings.EqualFold(made.engine, "InnoDB") {
		return fmt.Errorf("table %s: the server did not make it with the engine InnoDB", t.name)
	}
	key := map[string]bool{}
	for _, k := range t.target.Definition.Schema.PrimaryKey {
		key[k] = true
	}
	t.columns = nil
	for i, c := range t.target.Definition.Schema.Columns {
		if i >= len(made.columns) || made.columns[i].name != c.Name {
			return fmt.Errorf("table %s: the server made other columns than it was told to", t.name)
		}
		had := made.columns[i]
		if want := readType(parseDeclared(strings.ToLower(mustDeclare(c.Type, &t.c.facts))), nil); !had.t.AsNullable().Equal(want) && !t.sameButBool(had, want.AsNullable().String()) {
			return fmt.Errorf("table %s, column %s: the server made it %s", t.name, c.Name, had.text)
		}
		if had.fallback != "" || had.onUpdate {
			return fmt.Errorf("table %s, column %s: the server gave it a default of its own; SET GLOBAL explicit_defaults_for_timestamp = ON on the server", t.name, c.Name)
		}
		t.columns = append(t.columns, stagedTarget(c, key[c.Name]))
	}
	return nil
}

func mustDeclare(t types.Type, f *facts) string {
	declared, _ := declaredType(t, f)
	return declared
}

// sameButBool: with tinyInt1isBit=false a BOOLEAN is read as TINYINT.
func (t *staged) sameButBool(had tableColumn, want string) bool {
	return want == "BOOLEAN" && had.declared.name == "tinyint" && !parameters(t.s.config.Parameters).boolsOfTinyInt()
}

// Writer returns a writer.
func (t *staged) Writer(context.Context, int) (connector.Writer, error) {
	return t.writer(func(ctx context.Context, b *column.Batch) error {
		before := t.load.flushes
		if err := t.load.add(ctx, b); err != nil {
			return err
		}
		if before/flushesToCommit == t.load.flushes/flushesToCommit {
			return nil
		}
		_, err := t.c.exec(ctx, "COMMIT")
		return err
	})
}

// Seal sends what is left, and checks that the server stored every row.
func (t *staged) Seal(ctx context.Context) (int64, error) { return t.sealOnce(ctx, t.seal) }

func (t *staged) seal(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := failpoint.Hit("write.flush"); err != nil {
		return err
	}
	if err := t.load.flush(ctx); err != nil {
		return err
	}
	if err := failpoint.Hit("seal.before"); err != nil {
		return err
	}
	if _, err := t.c.exec(ctx, "COMMIT"); err != nil {
		return err
	}
	if t.load.affected != t.load.sent {
		return fmt.Errorf("%d of %d rows were not stored in table %s", t.load.sent-t.load.affected, t.load.sent, t.name)
	}
	if _, err := t.c.exec(ctx, "SET SESSION autocommit=1"); err != nil {
		return err
	}
	if err := t.awaitUsers(ctx); err != nil {
		return err
	}
	t.stored = t.load.sent
	return failpoint.Hit("seal.fsynced")
}

// Commit publishes the table.
func (t *staged) Commit(ctx context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if out, err, ok := t.settled(); ok {
		return out, err
	}
	return t.unbroken(func() (connector.Outcome, error) { return t.commit(context.WithoutCancel(ctx)) })
}

func (t *staged) commit(ctx context.Context) (connector.Outcome, error) {
	out, err := t.publish(ctx)
	if out != connector.Done {
		return t.outcomeOf(out, err)
	}
	_, _ = t.finish(connector.Done, nil)
	if err := failpoint.Hit("publish.done"); err != nil {
		t.leave()
		return connector.Done, nil
	}
	return connector.Done, t.clear(ctx)
}

func (t *staged) publish(ctx context.Context) (connector.Outcome, error) {
	// Jobs that replace one table go one after the other: the look at the old table tells the next that it is another.
	if t.target.Mode != server.Create {
		switch got, err := t.c.lock(ctx, publishName(t.database, t.name), publishWait*time.Second); {
		case err != nil:
			return connector.NotDone, err
		case !got:
			return connector.NotDone, fmt.Errorf("%w: another job has been replacing table %s for %d seconds", server.ErrChanged, t.name, publishWait)
		}
	}
	if err := t.sameOld(ctx); err != nil {
		return connector.NotDone, err
	}
	if _, err := t.c.exec(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout=%d", publishWait)); err != nil {
		return connector.NotDone, err
	}
	e := evidence{Job: t.job, Database: t.database, Table: t.name, Staged: true, ID: t.id, Since: t.since}
	if err := t.noted(e); err != nil {
		return connector.NotDone, err
	}
	if err := failpoint.Hit("publish.before"); err != nil {
		return connector.NotDone, err
	}
	own := func(ending string) string { return qualified(t.database, ownName(t.job, ending)) }
	aside, final := own(displacedName), qualified(t.database, t.name)
	fresh := own(stagedName) + " TO " + final + ", " + own(markName) + " TO " + own(doneName)
	rename := fresh
	if t.old != nil {
		rename = final + " TO " + aside + ", " + rename
	}
	if failpoint.Mutant("drop-then-rename") && t.old != nil {
		if _, err := t.c.exec(ctx, "RENAME TABLE "+final+" TO "+aside); err != nil {
			return connector.NotDone, err
		}
		rename = fresh
		if err := failpoint.Hit("publish.between"); err != nil {
			return connector.NotDone, err
		}
	}
	err := t.c.last(ctx, "RENAME TABLE "+rename)
	if err == nil {
		err = failpoint.Hit("publish.sent")
	}
	// What another session has done to the old table since the look at it counts as done before: once others can see
	// the new one, and write to it, nothing is undone.
	switch number := numberOf(err); {
	case err == nil:
	case unsure(err):
		return t.look(ctx, e, err)
	case number == errTableExists && t.target.Mode == server.Create:
		return connector.NotDone, &server.ExistsError{Table: t.name, Taken: t.name, Kind: "table"}
	case number == errTableExists, number == errNoSuchTable && t.old != nil:
		return connector.NotDone, fmt.Errorf("%w: %s", server.ErrChanged, t.name)
	case number == errLockWait:
		return connector.NotDone, &LockedError{t.name, t.s.holder(t.database, t.name, t.c.id), err}
	default:
		return connector.NotDone, fmt.Errorf("table %s: %w", t.name, err)
	}
	return connector.Done, nil
}

// sameOld makes sure that the table to replace is the one that Begin found.
func (t *staged) sameOld(ctx context.Context) error {
	if t.old == nil {
		return nil
	}
	now, _, err := t.c.describe(ctx, t.database, t.name)
	if err != nil {
		return err
	}
	id := ""
	if now != nil {
		id = t.c.tableID(ctx, t.database, t.name)
	}
	// Without InnoDB's number there is the time of its making, which other things change, too.
	known := id != "" && t.oldID != ""
	if now == nil || definition(now.text) != definition(t.old.text) || known && id != t.oldID || !known && now.created != t.old.created {
		return fmt.Errorf("%w: %s", server.ErrChanged, t.name)
	}
	loses, err := t.c.wouldLose(ctx, now, t.target.Definition)
	if err == nil && len(loses) > 0 {
		err = fmt.Errorf("%w: %s now has %s", server.ErrChanged, t.name, strings.Join(loses, ", "))
	}
	return err
}

// clear drops the old table and the mark. What stays is swept later; the error is of an old table that is kept.
func (t *staged) clear(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, abortTime)
	defer stop()
	defer t.leave()
	if t.known(connector.Done) != nil {
		return nil
	}
	var err error
	if t.old != nil {
		err = t.cleanUp(ctx, displacedName, func(c *conn) error { return c.dropDisplaced(ctx, t.database, t.job, t.name, t.seen) })
	}
	var kept *KeptError
	if err == nil || errors.As(err, &kept) {
		_ = t.dropOwn(ctx, doneName, true)
	}
	if kept != nil {
		return kept
	}
	return nil
}

// Abort drops the hidden table.
func (t *staged) Abort(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended && t.outcome != connector.NotDone {
		return nil // published, or not to be touched
	}
	t.ended, t.outcome = true, connector.NotDone
	t.fail(errors.New("the transaction was aborted"))
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), abortTime)
	defer stop()
	defer t.leave()
	made := t.made
	t.made = false
	if t.c != nil {
		if _, err := t.c.exec(ctx, "ROLLBACK"); err != nil {
			t.hangUp()
		}
	}
	if err := t.known(connector.NotDone); err != nil {
		return err
	}
	marked := t.marked
	t.marked = false
	if err := t.dropOwn(ctx, stagedName, made); err != nil {
		return err
	}
	return t.dropOwn(ctx, markName, marked)
}
