package mysql

import (
	"context"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/internal/failpoint"
)

// statementBytes is about how long an INSERT gets: longer ones are no faster.
const statementBytes = 1 << 20

// loader writes rows by INSERTs of many rows each. After an error it is of no more use.
type loader struct {
	c       *conn
	table   string // for messages
	columns []target
	head    string // INSERT INTO … VALUES
	tail    string // ON DUPLICATE KEY …
	limit   int

	statement []byte
	starts    []int // of the rows in it
	sent      int64 // rows given to the server
	flushes   int
	affected  int64 // rows that it says it changed
}

// newLoader returns a loader into the table of a quoted name.
func newLoader(c *conn, name, table string, columns []target, tail string) *loader {
	names := make([]string, len(columns))
	for i, g := range columns {
		names[i] = g.name
	}
	l := &loader{c: c, table: table, columns: columns, tail: tail}
	l.head = "INSERT INTO " + name + " (" + quoteAll(names) + ") VALUES "
	l.limit = min(statementBytes, c.maxPacket-1-len(tail))
	return l
}

// add adds the rows of a batch.
func (l *loader) add(ctx context.Context, b *column.Batch) error {
	for i := range b.N {
		if err := l.addRow(ctx, b, i); err != nil {
			return err
		}
	}
	return nil
}

func (l *loader) addRow(ctx context.Context, b *column.Batch, i int) (err error) {
	if len(l.starts) == 0 {
		l.statement = append(l.statement[:0], l.head...)
	}
	start := len(l.statement)
	l.statement = append(l.statement, '(')
	for c := range l.columns {
		if c > 0 {
			l.statement = append(l.statement, ',')
		}
		if l.statement, err = l.columns[c].appendValue(l.statement, b.Cols[c], i); err != nil {
			return &RowError{Table: l.table, Column: l.columns[c].name, Row: l.row() + 1, Msg: err.Error()}
		}
	}
	l.statement = append(l.statement, ')', ',')
	if len(l.statement) > l.limit && len(l.starts) > 0 {
		// The row begins the next statement.
		row := string(l.statement[start:])
		l.statement = l.statement[:start]
		if err := l.flush(ctx); err != nil {
			return err
		}
		l.statement = append(append(l.statement[:0], l.head...), row...)
		start = len(l.head)
	}
	if size := len(l.statement) + len(l.tail); size >= l.c.maxPacket {
		return &RowError{Table: l.table, Row: l.row() + 1, Msg: fmt.Sprintf("the row takes %d bytes, and the server's max_allowed_packet is %d", size, l.c.maxPacket)}
	}
	l.starts = append(l.starts, start)
	return nil
}

// row is the number of rows added, which is that of the last.
func (l *loader) row() int64 { return l.sent + int64(len(l.starts)) }

// flush sends what there is.
func (l *loader) flush(ctx context.Context) error {
	n := len(l.starts)
	if n == 0 {
		return nil
	}
	place := "write.mid"
	if l.sent == 0 {
		place = "write.first"
	}
	if err := failpoint.Hit(place); err != nil {
		return err
	}
	l.statement = l.statement[:len(l.statement)-1] // the last comma
	affected, err := l.c.exec(ctx, string(l.statement)+l.tail)
	if err != nil {
		return l.rowError(ctx, err)
	}
	l.flushes++
	l.sent += int64(n)
	l.affected += affected
	l.starts = l.starts[:0]
	return nil
}

// rowError finds the row at which a statement failed: the server does not say. The statement has left nothing, and
// the transaction is lost anyway, so that its rows may be tried by halves.
func (l *loader) rowError(ctx context.Context, err error) error {
	number := numberOf(err)
	switch number {
	case 0:
		return err
	case errLockWait, errDeadlock, errInterrupted, errKilled, errShutdown, errNoSuchTable, errTableDenied, errPacketTooLarge, errDiskFull, errTableFull, errEngine:
		return fmt.Errorf("table %s: %w", l.table, limits(err))
	}
	low, high := 0, len(l.starts) // the row is among these
	for high-low > 1 {
		middle := (low + high) / 2
		_, again := l.c.exec(ctx, l.head+l.rows(low, middle)+l.tail)
		switch {
		case again == nil:
			low = middle
		case numberOf(again) == number:
			high, err = middle, again
		default:
			return fmt.Errorf("table %s: %w", l.table, err)
		}
	}
	return &RowError{Table: l.table, Row: l.sent + int64(low) + 1, Msg: wordRow(err), Err: err}
}

// rows are the texts of some rows, without the last comma.
func (l *loader) rows(from, to int) string {
	end := len(l.statement)
	if to < len(l.starts) {
		end = l.starts[to] - 1
	}
	return string(l.statement[l.starts[from]:end])
}

// wordRow says what is wrong with a row.
func wordRow(err error) string {
	e := err.Error()
	switch numberOf(err) {
	case errDuplicate:
		// Duplicate entry '…' for key '…': the value itself may have the words.
		if value, name, ok := cutLast(strings.TrimPrefix(e, "Duplicate entry "), " for key "); ok {
			return "duplicate key " + value + " of " + name
		}
	case errNoRowReferenced:
		return "there is no row that a foreign key leads to: " + e
	}
	// … for column `database`.`table`.`column` at row 1: the table may be the staging, and the row is the statement's.
	if what, place, ok := cutLast(e, " for column "); ok {
		place, _, _ = cutLast(place, " at row ")
		return "column " + lastName(place) + ": " + what
	}
	return e
}

// lastName is the last of the names of `a`.`b`.`c`.
func lastName(path string) string {
	if i := strings.LastIndex(path, "`.`"); i >= 0 {
		return path[i+2:]
	}
	return path
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}
