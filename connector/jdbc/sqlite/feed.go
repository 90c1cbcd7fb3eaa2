package sqlite

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/cgo"
	"time"
	"unsafe"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/types"
)

// feed is the Go side of a module that yields batches as rows to an INSERT.
type feed struct {
	name   string
	table  string
	names  []string // of the target's columns, in the batches' order
	ts     []types.Type
	f      *C.sl_feed
	ccols  []C.sl_col // the feed's columns, in C's memory
	handle cgo.Handle
	pin    runtime.Pinner

	next  func() (*column.Batch, error)
	batch *column.Batch // the one that C reads
	sent  int64         // rows handed over, in all statements
	err   error

	changes bool // the rows are changes of rows that are there, and collected by their key
}

// newFeed registers a feed on a connection under a name that no table has, the one given where it is free. numeric says of each column
// whether SQLite turns text into numbers there.
func newFeed(c *Conn, name, table string, names []string, ts []types.Type, numeric []bool) (*feed, error) {
	f := &feed{name: name, table: table, names: names, ts: ts}
	for {
		taken, err := c.Int("SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE NOCASE", f.name)
		if err != nil {
			return nil, err
		}
		if taken == 0 {
			break
		}
		f.name += "_"
	}
	f.handle = cgo.NewHandle(f)
	cname := append([]byte(f.name), 0)
	f.f = C.sl_feed_new(c.db, (*C.char)(unsafe.Pointer(&cname[0])), C.int(len(ts)), C.uintptr_t(f.handle))
	if f.f == nil {
		f.handle.Delete()
		return nil, &Error{Code: codeNoMem, Path: c.Path}
	}
	f.ccols = unsafe.Slice(f.f.cols, len(ts)+1)
	for i, t := range ts {
		k := &f.ccols[i]
		k.form, k.flags = formOf(t)
		if numeric[i] {
			k.flags |= C.SL_NUMBER
		}
		k.precision, k.scale = C.int32_t(t.Precision), C.int32_t(t.Scale)
	}
	return f, nil
}

// close frees the feed; its connection must be closed before.
func (f *feed) close() {
	f.pin.Unpin()
	if f.f != nil {
		C.sl_feed_free(f.f)
		f.f = nil
		f.handle.Delete()
	}
}

// run executes the prepared INSERT over the rows that next yields.
func (f *feed) run(s *stmt, next func() (*column.Batch, error)) error {
	f.next, f.err, f.batch = next, nil, nil
	f.f.n, f.f.row, f.f.err, f.f.total = 0, 0, 0, C.int64_t(f.sent)
	rc := C.sl_step(s.p)
	defer func() {
		C.sl_reset(s.p) // repeats the step's error, which is reported below
		f.pin.Unpin()
		f.next, f.batch = nil, nil
	}()
	if rc == 101 {
		return nil
	}
	switch f.f.err {
	case C.SL_FEED_GO:
		return f.err
	case C.SL_FEED_ENDED:
		return fmt.Errorf("table %s: the transaction ended by itself; nothing was stored", f.table)
	case C.SL_FEED_NAN:
		return f.valueError("NaN cannot be stored in SQLite")
	case C.SL_FEED_YEAR:
		return f.valueError("a date outside the years 0001 to 9999 cannot be stored")
	case C.SL_FEED_DIGITS:
		return f.valueError("the column keeps numbers, and SQLite's hold 15 decimal digits; this value has more")
	case C.SL_FEED_NUMERIC:
		return f.valueError("SQLite would turn this text into a number, as the column's declared type is not a text type")
	}
	return f.rowError(s.c.newError(int(rc)))
}

// valueError names the cell that C refused.
func (f *feed) valueError(msg string) error {
	i, row := int(f.f.errcol), int(f.f.row)
	if v := f.batch.Cols[i]; f.batch != nil && row < f.batch.N && !v.Type.IsFloat() {
		msg = clip(string(column.AppendText(nil, v, row, time.UTC)), 60) + ": " + msg
	}
	return &RowError{Table: f.table, Column: f.names[i], Row: int64(f.f.total) + int64(row) + 1, Msg: msg}
}

// RowError is a value or row that the store refused.
type RowError struct {
	Table, Column string
	Row           int64  // 1-based, in the order written; 0 when not known
	Key           string // of a row that was there, such as "rowid 5"
	Msg           string
	Err           error
}

// Error names table, column and row.
func (e *RowError) Error() string {
	s := "table " + e.Table
	if e.Column != "" {
		s += ", column " + e.Column
	}
	if e.Row > 0 {
		s += fmt.Sprintf(", row %d", e.Row)
	}
	if e.Key != "" {
		s += ", " + e.Key
	}
	return s + ": " + e.Msg
}

// Unwrap returns SQLite's error, if it was one.
func (e *RowError) Unwrap() error { return e.Err }

// rowError says at which row a constraint failed and what the row's key is.
func (f *feed) rowError(err *Error) error {
	if err.Primary() != codeConstraint {
		return err
	}
	if f.batch == nil || int(f.f.row) >= f.batch.N { // SQLite has read all rows before it stores the first
		return &RowError{Table: f.table, Msg: err.Msg, Err: err}
	}
	e := &RowError{Table: f.table, Row: int64(f.f.total) + int64(f.f.row) + 1, Err: err}
	if e.Msg = f.constraint(err); f.changes {
		e.Msg = "the statement changes the same row twice"
	}
	return e
}

// constraint words a constraint failure with the values of the row that the message names.
func (f *feed) constraint(err *Error) string {
	values := ""
	row := int(f.f.row)
	for i, name := range f.names {
		if !mentions(err.Msg, f.table+"."+name) {
			continue
		}
		if values != "" {
			values += ", "
		}
		v := f.batch.Cols[i]
		text := "NULL"
		if !v.IsNull(row) {
			text = "'" + clip(string(column.AppendText(nil, v, row, time.UTC)), 60) + "'"
			if v.Type.IsNumeric() {
				text = text[1 : len(text)-1]
			}
		}
		values += name + " = " + text
	}
	return wordConstraint(err, values)
}

//export sluiceFeedNext
func sluiceFeedNext(handle C.uintptr_t, cf *C.sl_feed) C.int {
	f := cgo.Handle(handle).Value().(*feed)
	n, err := f.pull()
	if err != nil {
		f.err = err
		return -1
	}
	return C.int(n)
}

// pull makes the next batch with rows current. A panic of the rows' producer must not cross C's frames.
func (f *feed) pull() (n int, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic while producing the rows of table %s: %v", f.table, p)
		}
	}()
	f.pin.Unpin()
	f.batch = nil
	for {
		b, err := f.next()
		if err != nil || b == nil {
			return 0, err
		}
		if b.Rows() == 0 {
			continue
		}
		b = b.Dense()
		if err := f.lend(b); err != nil {
			return 0, err
		}
		f.batch = b
		f.sent += int64(b.N)
		return b.N, nil
	}
}

// lend pins a batch and shows it to C until the next one is asked for.
func (f *feed) lend(b *column.Batch) error {
	if len(b.Cols) != len(f.ts) {
		return fmt.Errorf("table %s: a batch of %d columns for %d", f.table, len(b.Cols), len(f.ts))
	}
	for _, k := range b.Kind {
		if k != types.Insert {
			return errors.New("an updating result cannot be written to table " + f.table + " in batch mode")
		}
	}
	for i, v := range b.Cols {
		k := &f.ccols[i]
		form, _ := formOf(f.ts[i])
		k.form = form
		if v.Type.Kind == types.Null { // a column of bare NULLs
			k.form = C.SL_NONE
			continue
		}
		if got, _ := formOf(v.Type); got != form || v.Type.Kind == types.Decimal && v.Type.Scale != f.ts[i].Scale {
			return fmt.Errorf("table %s, column %s: a batch has %s, want %s", f.table, f.names[i], v.Type, f.ts[i])
		}
		k.data, k.off, k.valid = nil, nil, nil
		if p := dataPointer(v); p != nil {
			f.pin.Pin(p)
			k.data = p
		}
		if column.PhysicalOf(v.Type) == column.PhysBytes {
			f.pin.Pin(&v.Offsets[0])
			k.off = (*C.int32_t)(unsafe.Pointer(&v.Offsets[0]))
		}
		if len(v.Valid) > 0 {
			f.pin.Pin(&v.Valid[0])
			k.valid = (*C.uint64_t)(unsafe.Pointer(&v.Valid[0]))
		}
	}
	return nil
}
