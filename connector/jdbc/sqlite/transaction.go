package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/internal/failpoint"
	"github.com/sluice-sql/sluice/types"
)

// Target says what a transaction writes.
type Target struct {
	Store *Store
	Table string
	// Columns are the columns written, in the order of the batches.
	Columns []types.Column
	// Create, when set, is the schema of a table that the transaction makes.
	Create *types.Schema
	// Replace says what becomes of a table that has the name of the one to make.
	Replace Replace
	// Empty says that the table must have no rows, and that those of the transaction are its first.
	Empty bool
	// Key are the columns, as positions in Columns, by which rows replace and delete others: the primary key.
	// Nil: rows are only added.
	Key []int
	// Overwrite says that the rows take the place of all that the table has. Without columns it gets none.
	Overwrite bool
	// Change says that rows which are there are changed or deleted.
	Change *Change
	// ReadsSame says that the same job also reads the file.
	ReadsSame bool
	// ReadsTarget says that what takes the rows' place may have been computed from them.
	ReadsTarget bool
}

// ExistsError says that a table cannot be made because its name is taken, maybe in another case.
type ExistsError struct{ Table, Taken, Kind string }

// Error names the object that has the name.
func (e *ExistsError) Error() string {
	if e.Taken == e.Table {
		return fmt.Sprintf("%s %s already exists", e.Kind, e.Table)
	}
	return fmt.Sprintf("%s %s already exists, and SQLite does not tell it from %s", e.Kind, e.Taken, e.Table)
}

// road is the way rows take into a file.
type road uint8

const (
	direct  road = iota // one transaction in the file itself
	scratch             // into a scratch file, then one short transaction that copies
)

// Transaction writes one table of one file, all or nothing. See the package's doc for its roads.
type Transaction struct {
	target Target
	key    string

	mu      sync.Mutex
	begun   bool
	ended   bool
	outcome connector.Outcome // valid when ended
	err     error             // the first error: nothing is written after it
	road    road
	made    bool // the file was not there before us
	release func()
	conn    *Conn // of the file, or of the scratch file
	insert  *stmt
	feed    *feed
	remove  *stmt // of a target with a key: deletes the rows whose keys deleted yields
	deleted *feed
	left    *stmt // counts the rows that were to be deleted and are there; nil: not needed yet
	scratch *scratchFile
	info    *TableInfo // of the target of an INSERT
	stored  int64      // rows SQLite says it stored
	sealed  bool
	keys    bool // the target has foreign keys
	// counted: the target may lose rows; it had rowsBefore.
	counted    bool
	changes    bool // rows that are there are changed as they come
	rowsBefore int64
	writer     bool          // one is in use
	before     evidence      // taken with the write lock
	file       string        // scratch road: the identity of the file that Begin found
	counter    uint32        // scratch road: the file's change counter that Begin found
	patience   time.Duration // the longest wait for others; 0: as long as it takes, but for COMMIT
	lingers    bool          // the next writer of this process is let in later, after the readers
	table      *Table        // by which it was made; nil: by none
	old        *oldTable     // the table to replace that Begin found; nil: none
}

// NewTransaction returns a transaction on a target; nothing happens before Begin.
func NewTransaction(t Target) *Transaction {
	return &Transaction{target: t, key: Key(t.Store.Path)}
}

// ReadsTarget says, before Begin, that the job reads the table that is to be replaced: if others write the file
// meanwhile, nothing is stored.
func (t *Transaction) ReadsTarget() { t.target.ReadsTarget = true }

// Key names the file.
func (t *Transaction) Key() string { return t.key }

// chooseRoad decides the road from what the file is now.
func (t *Transaction) chooseRoad(ctx context.Context) (road, error) {
	s := t.target.Store
	if t.target.Change != nil || t.target.Overwrite && len(t.target.Columns) == 0 {
		return direct, nil
	}
	if absent(s.Path) || !t.target.ReadsSame && (!s.Staging || t.target.Key != nil) {
		return direct, nil
	}
	c, err := s.open(Read)
	if err != nil {
		return direct, err
	}
	var mode string
	var pages int64
	err = retryBusy(ctx, s.Path, func() error {
		if mode, err = c.Text("PRAGMA main.journal_mode"); err == nil {
			pages, err = c.Int("PRAGMA main.page_count")
		}
		return err
	})
	if err = errors.Join(err, c.Close()); err != nil {
		return direct, err
	}
	if mode == "wal" || pages == 0 {
		return direct, nil
	}
	return scratch, nil
}

// Begin opens the road: in the file itself it takes the write lock and makes the table, invisible to
// others until Commit; else it makes the scratch file.
func (t *Transaction) Begin(ctx context.Context, job connector.JobID) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.begun {
		return errors.New("the transaction has begun before")
	}
	t.begun = true
	err := t.begin(ctx, job)
	if err == nil {
		err = failpoint.Hit("begin.staged")
	}
	if err != nil {
		err = t.busy(err)
		t.err = err
		t.drop()
	}
	return err
}

func (t *Transaction) begin(ctx context.Context, job connector.JobID) (err error) {
	wait, stop := t.within(ctx)
	defer stop()
	if t.road, err = t.chooseRoad(wait); err != nil {
		return err
	}
	if t.road == scratch {
		if t.target.Key != nil {
			return errStagedUpsert
		}
		err = t.beginScratch(wait, job)
	} else {
		err = t.beginDirect(ctx)
	}
	if err != nil {
		return err
	}
	if len(t.target.Columns) == 0 { // nothing is written
		return nil
	}
	return t.prepareInsert()
}

// prepareInsert makes the feed and the statement that stores its rows.
func (t *Transaction) prepareInsert() (err error) {
	n := len(t.target.Columns)
	names, ts, numeric := make([]string, n), make([]types.Type, n), make([]bool, n)
	for i, c := range t.target.Columns {
		names[i], ts[i] = c.Name, c.Type
		if t.info != nil {
			had, _ := t.info.column(c.Name)
			a := affinityOf(had.Declared)
			numeric[i] = a != affinityText && a != affinityBlob
		}
	}
	if t.feed, err = newFeed(t.conn, "_sluice_feed", t.target.Table, names, ts, numeric); err != nil {
		return err
	}
	if t.target.Change != nil {
		t.feed.changes = true
		sql, err := t.prepareChange(t.feed.name)
		if err == nil {
			t.insert, err = t.conn.prepare(sql)
		}
		return err
	}
	cells := make([]string, len(names))
	for i := range cells {
		cells[i] = "c" + strconv.Itoa(i)
	}
	conflict, err := t.onConflict()
	if err != nil {
		return err
	}
	if t.road == scratch && t.target.Create == nil {
		conflict = "" // the scratch table has no key; the copy at the end has the clause
	}
	t.insert, err = t.conn.prepare("INSERT INTO main." + Quote(t.target.Table) + " (" + quoteAll(names) + ") SELECT " +
		strings.Join(cells, ", ") + " FROM " + Quote(t.feed.name) + conflict)
	if err == nil && t.target.Key != nil {
		err = t.prepareDelete()
	}
	return err
}

// onConflict returns the clause for rows whose primary key is there already, "" when they are an error.
func (t *Transaction) onConflict() (string, error) {
	if t.target.Key != nil {
		return t.replaceByKey(), nil
	}
	if t.target.Store.OnConflict == "" {
		return "", nil
	}
	var key []string
	if t.target.Create != nil {
		key = t.target.Create.PrimaryKey
	} else {
		key = t.info.PrimaryKey
	}
	if len(key) == 0 {
		return "", fmt.Errorf("table %s has no PRIMARY KEY, which 'sink.on-conflict' = '%s' needs", t.target.Table, t.target.Store.OnConflict)
	}
	var set []string
	for _, c := range t.target.Columns {
		if !slices.Contains(key, c.Name) {
			set = append(set, Quote(c.Name)+" = excluded."+Quote(c.Name))
		}
	}
	clause := " WHERE true ON CONFLICT (" + quoteAll(key) + ") DO "
	if t.target.Store.OnConflict == "ignore" || len(set) == 0 {
		return clause + "NOTHING", nil
	}
	return clause + "UPDATE SET " + strings.Join(set, ", "), nil
}

// mayDrop reports whether rows may be dropped as asked for.
func (t *Transaction) mayDrop() bool {
	return t.target.Store.OnConflict != "" && t.target.Key == nil && t.target.Change == nil
}

func quoteAll(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = Quote(n)
	}
	return strings.Join(quoted, ", ")
}

func (t *Transaction) beginDirect(ctx context.Context) (err error) {
	if t.release, err = queue(ctx, t.target.Store.Env, t.target.Store.Path); err != nil {
		return err
	}
	ctx, stop := t.within(ctx) // those of this process before us have had their time
	defer stop()
	if t.conn, t.made, err = t.lockFile(ctx); err != nil {
		return err
	}
	if err := failpoint.Hit("begin.lock"); err != nil {
		return err
	}
	if err := t.take(false); err != nil {
		return err
	}
	if err := t.prepareTarget(ctx, t.conn); err != nil {
		return err
	}
	return t.countRows()
}

// take notes what the open transaction begins with; again says that Begin has noted the table to replace before.
func (t *Transaction) take(again bool) error {
	if err := t.noteOld(t.conn, again); err != nil {
		return err
	}
	made := ""
	if t.before.replaces = t.old != nil; t.target.Create != nil && t.old == nil {
		made = t.target.Table
	}
	return t.before.take(t.conn, made)
}

// lockFile opens the file with its write lock held. A file that was removed while we waited is opened
// anew.
func (t *Transaction) lockFile(ctx context.Context) (c *Conn, made bool, err error) {
	mode := Write
	if t.target.Create != nil && t.target.Replace != ReplaceOld {
		mode = Create
	}
	for {
		fresh := absent(t.target.Store.Path)
		if fresh && t.target.Replace == ReplaceOld {
			return nil, made, ErrNotThere
		}
		if fresh && mode == Write {
			return nil, made, &Error{Code: codeCantOpen, Path: t.target.Store.Path}
		}
		if c, err = openWriter(ctx, t.target.Store.files(), t.target.Store.Path, mode, fresh); err != nil {
			return nil, made || fresh, err
		}
		made = made || fresh
		if err = t.lock(ctx, c); err == nil && !c.Moved() {
			return c, made, nil
		}
		if closeErr := c.Close(); err != nil {
			return nil, made, errors.Join(err, closeErr)
		}
	}
}

// prepareTarget makes the table in the open transaction of c, or checks the one to write into, and empties it where
// that is asked for.
func (t *Transaction) prepareTarget(ctx context.Context, c *Conn) error {
	if failpoint.Mutant("autocommit-leak") {
		defer func() { _, _ = c.Exec("COMMIT"), c.Exec("BEGIN IMMEDIATE") }()
	}
	if failpoint.Mutant("header-sniff") {
		failpoint.Sniff(t.target.Store.Path)
	}
	if t.target.Create == nil {
		if err := t.checkInsert(c); err != nil || !t.target.Overwrite {
			return err
		}
		return t.removeAll(ctx, c)
	}
	if t.target.Replace != ReplaceNever {
		if err := t.makeRoom(c); err != nil {
			return err
		}
	} else if err := Taken(c, t.target.Table); err != nil {
		return err
	}
	return t.createTable(c)
}

func (t *Transaction) createTable(c *Conn) error {
	sql, col, fault := CreateSQL("main.", t.target.Table, *t.target.Create)
	if fault != "" {
		return fmt.Errorf("column %s: %s", col, fault)
	}
	return c.Exec(sql)
}

// Taken returns an *ExistsError when a name is that of a table, view or index, whatever its case.
func Taken(c *Conn, name string) error {
	rows, err := c.Rows("SELECT name, type FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE AND type IN ('table', 'view', 'index') ORDER BY name = ?1 DESC", name)
	if err != nil || len(rows) == 0 {
		return err
	}
	taken, _ := rows[0][0].(string)
	kind, _ := rows[0][1].(string)
	return &ExistsError{Table: name, Taken: taken, Kind: kind}
}

func (t *Transaction) checkInsert(c *Conn) error {
	info, err := t.target.Store.Describe(c, t.target.Table, false)
	if err != nil {
		return err
	}
	if info == nil {
		return fmt.Errorf("table %s does not exist in %s any more", t.target.Table, t.target.Store.Path)
	}
	if info.View {
		return fmt.Errorf("%s is a view of SQLite; it cannot be written", t.target.Table)
	}
	for _, col := range t.written() {
		had, ok := info.column(col.Name)
		switch {
		case !ok:
			return fmt.Errorf("table %s has no column %s any more", t.target.Table, col.Name)
		case had.Generated:
			return fmt.Errorf("table %s: column %s is computed by SQLite and cannot be written", t.target.Table, col.Name)
		}
		if fault := writeFault(col.Type, affinityOf(had.Declared)); fault != "" {
			return fmt.Errorf("table %s, column %s (declared %s): %s", t.target.Table, col.Name, had.Declared, fault)
		}
	}
	if t.target.Empty {
		if err := isEmpty(c, info.Name); err != nil {
			return err
		}
	}
	if t.target.Change != nil {
		if err := t.checkChange(info); err != nil {
			return err
		}
	}
	if t.target.Key != nil || t.mayDrop() {
		if err := info.replaceable(t.target.Columns); err != nil {
			return err
		}
	}
	t.info = info
	return nil
}

func isEmpty(c *Conn, table string) error {
	n, err := c.Int("SELECT EXISTS (SELECT 1 FROM main." + Quote(table) + ")")
	if err == nil && n != 0 {
		err = fmt.Errorf("table %s of %s has rows already; CREATE TABLE AS makes a table of its own rows only: CREATE TABLE it without AS, then INSERT INTO it", table, c.Path)
	}
	return err
}

// Writer returns the one writer.
func (t *Transaction) Writer(_ context.Context, _ int) (connector.Writer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.err != nil:
		return nil, t.err
	case !t.begun || t.sealed || t.ended || t.feed == nil:
		return nil, errors.New("no transaction is open for writing")
	case t.writer:
		return nil, fmt.Errorf("table %s: a SQLite file has one writer at a time", t.target.Table)
	}
	t.writer = true
	return &writer{t: t}, nil
}

type writer struct{ t *Transaction }

// Write runs one INSERT over all rows that next yields.
func (w *writer) Write(ctx context.Context, next func() (*column.Batch, error)) error {
	t := w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return t.err
	}
	if t.ended || t.sealed {
		return errors.New("the transaction is not open for writing any more")
	}
	if !t.conn.InTransaction() {
		return t.poison(fmt.Errorf("table %s: the transaction ended by itself; nothing was stored", t.target.Table))
	}
	place := "write.first"
	pull := func() (*column.Batch, error) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := failpoint.Hit(place); err != nil {
			return nil, err
		}
		place = "write.mid"
		return next()
	}
	if t.target.Key != nil {
		if err := t.upsert(pull); err != nil {
			return t.poison(err)
		}
		return nil
	}
	if err := t.feed.run(t.insert, pull); err != nil {
		return t.poison(err)
	}
	if err := failpoint.Hit("write.flush"); err != nil {
		return t.poison(err)
	}
	t.stored += t.conn.Changes()
	return nil
}

// Close ends the writer; what it wrote stays in the transaction.
func (w *writer) Close() error {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.t.writer = false
	return nil
}

// poison keeps the first error and ends the connection at once: after an error SQLite may have ended the
// transaction, and a further write would commit by itself.
func (t *Transaction) poison(err error) error {
	t.err = err
	t.closeConn()
	return err
}

// closeConn rolls back and closes. Errors of it cannot matter: a closed connection has no transaction,
// and SQLite rolls back what a journal still holds.
func (t *Transaction) closeConn() {
	if t.insert != nil {
		t.insert.close()
		t.insert = nil
	}
	t.closeDelete()
	if t.conn != nil {
		if t.conn.InTransaction() {
			_ = t.conn.Exec("ROLLBACK")
		}
		_ = t.conn.Close()
		t.conn = nil
	}
	if t.feed != nil { // after the connection, which calls into it
		t.feed.close()
		t.feed = nil
	}
	if t.deleted != nil {
		t.deleted.close()
		t.deleted = nil
	}
}

// Seal checks that SQLite stored every row that was sent.
func (t *Transaction) Seal(ctx context.Context) (int64, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return 0, t.err
	}
	if t.sealed {
		return t.stored, nil
	}
	if !t.begun || t.ended {
		return 0, errors.New("no transaction is open")
	}
	if ctx.Err() != nil {
		return 0, t.poison(context.Cause(ctx))
	}
	if !t.conn.InTransaction() {
		return 0, t.poison(fmt.Errorf("table %s: the transaction ended by itself; nothing was stored", t.target.Table))
	}
	if err := failpoint.Hit("seal.before"); err != nil {
		return 0, t.poison(err)
	}
	if t.feed != nil {
		if sent := t.feed.sent; sent != t.stored && !t.mayDrop() {
			return 0, t.poison(t.lostRows(sent-t.stored, sent, false))
		}
		t.insert.close()
		t.insert = nil
	}
	t.closeDelete()
	if t.target.Change != nil {
		if err := t.apply(ctx); err != nil {
			return 0, t.poison(err)
		}
	}
	if t.road == scratch {
		if err := t.sealScratch(ctx); err != nil {
			return 0, t.poison(err)
		}
	} else if err := t.checkStored(); err != nil {
		return 0, t.poison(err)
	}
	if err := failpoint.Hit("seal.fsynced"); err != nil {
		return 0, t.poison(err)
	}
	t.sealed = true
	return t.stored, nil
}

// groups prints 1000000 as 1,000,000.
func groups(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Commit publishes the rows.
func (t *Transaction) Commit(ctx context.Context) (connector.Outcome, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if out, err, ok := connector.Settled(t.sealed, t.ended, t.outcome, t.err); ok {
		return out, err
	}
	returned := false
	defer func() {
		if !returned { // a panic: nobody knows how far it came
			t.doubt(errors.New("the commit was broken off"))
		}
	}()
	out, err := t.publishRows(ctx)
	returned = true
	return out, err
}

func (t *Transaction) publishRows(ctx context.Context) (connector.Outcome, error) {
	if t.road == scratch {
		return t.publish(ctx)
	}
	return t.commit(ctx)
}

// commit ends the open transaction of t.conn.
func (t *Transaction) commit(ctx context.Context) (connector.Outcome, error) {
	if err := failpoint.Hit("publish.before"); err != nil {
		return connector.NotDone, t.poison(err)
	}
	out, err := t.target.Store.commit(ctx, t.conn, &t.before)
	t.before.close()
	switch out {
	case connector.Done:
		_ = failpoint.Hit("publish.done") // nothing can be done about what is committed
		t.ended, t.outcome, t.err = true, out, nil
		t.closeConn()
		// What cannot be removed is swept later; the rows are committed.
		_ = t.drop()
		return out, nil
	case connector.NotDone:
		if t.conn.InTransaction() { // COMMIT did nothing
			err = t.busy(err)
			t.lingers = errors.As(err, new(*connector.BusyError))
		}
		return out, t.poison(err)
	}
	t.doubt(err)
	return out, err
}

// doubt ends a transaction of which it is not known whether it was committed. Nothing is written any more, so that
// what is beside the file is of no use.
func (t *Transaction) doubt(err error) {
	t.ended, t.outcome = true, connector.Unknown
	t.before.close()
	t.poison(err)
	if t.release != nil {
		t.release()
		t.release = nil
	}
	if t.scratch != nil {
		_ = t.scratch.remove() // what cannot be removed is swept later
		t.scratch = nil
	}
}

// Abort rolls back and removes what the transaction made.
func (t *Transaction) Abort(_ context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended && t.outcome != connector.NotDone {
		return nil // committed, or not to be touched
	}
	t.ended, t.outcome = true, connector.NotDone
	if t.err == nil {
		t.err = errors.New("the transaction was aborted")
	}
	t.closeConn()
	return t.drop()
}

// drop removes the scratch file, or the file that the transaction made and left empty, and lets the next
// writer in.
func (t *Transaction) drop() error {
	err := failpoint.Hit("cleanup.before")
	t.closeConn()
	t.before.close()
	if t.scratch != nil {
		err = errors.Join(err, t.scratch.remove())
		t.scratch = nil
	}
	if t.made {
		err = errors.Join(err, removeEmpty(t.target.Store.files(), t.target.Store.Path))
		t.made = false
	}
	if t.release != nil {
		if t.lingers {
			time.AfterFunc(readersTurn, t.release)
		} else {
			t.release()
		}
		t.release = nil
	}
	return err
}
