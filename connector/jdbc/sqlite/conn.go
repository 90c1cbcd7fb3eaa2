package sqlite

/*
#include "shim.h"
#include <stdlib.h>
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	_ "github.com/mattn/go-sqlite3" // for the amalgamation it links in

	"github.com/sluice-sql/sluice/connector"
)

// Mode says how a file is opened.
type Mode int

// The modes. A reader opens a file for writing where it may, so that SQLite can roll back what a killed
// writer left, and then forbids itself to write.
const (
	Read   Mode = iota // must exist; never written by us
	Write              // must exist
	Create             // made when absent
)

const (
	openReadWrite = 0x2
	openCreate    = 0x4
	openNoMutex   = 0x8000
)

// Conn is a connection to one database file. It is used by one goroutine at a time, except Interrupt.
type Conn struct {
	Path string

	mu    sync.Mutex // guards db against Interrupt after Close
	db    *C.sqlite3
	files *connector.Files
	claim *connector.Database // tells others to keep off the file
}

// Open opens a file, and says so in files, which may be nil. It does not wait for locks and does not look into
// the file.
func Open(files *connector.Files, path string, mode Mode) (*Conn, error) {
	claim, err := files.Database(path)
	if err != nil {
		return nil, err
	}

	flags := openNoMutex | openReadWrite
	if mode == Create {
		flags |= openCreate
	}
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	c := &Conn{Path: path, files: files, claim: claim}
	if rc := C.sl_open(name, C.int(flags), &c.db); rc != 0 {
		err := c.newError(int(rc))
		_ = c.Close() // the handle exists only to carry the error
		return nil, err
	}
	claim.Opened()
	if mode == Read {
		if err := c.Exec("PRAGMA query_only = ON"); err != nil {
			_ = c.Close() // nothing was done
			return nil, err
		}
	}
	return c, nil
}

// Close closes the connection; an open transaction is rolled back.
func (c *Conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db == nil {
		c.claim.Close()
		return nil
	}
	rc := C.sl_close(c.db)
	c.db = nil
	c.claim.Close()
	if rc != 0 {
		return &Error{Code: int(rc), Msg: "close failed", Path: c.Path}
	}
	return nil
}

// Interrupt makes a running statement end with an error. An interrupted write may end its transaction, see execUntil.
func (c *Conn) Interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.db != nil {
		C.sl_interrupt(c.db)
	}
}

// InTransaction reports whether a transaction is open; an error may have ended it.
func (c *Conn) InTransaction() bool { return c.db != nil && C.sl_autocommit(c.db) == 0 }

// Changes is the number of rows that the last INSERT itself stored.
func (c *Conn) Changes() int64 { return int64(C.sl_changes(c.db)) }

// LastRowid is the rowid of the last row inserted.
func (c *Conn) LastRowid() int64 { return int64(C.sl_last_rowid(c.db)) }

// setLastRowid sets what LastRowid is until the next row is inserted.
func (c *Conn) setLastRowid(id int64) { C.sl_set_last_rowid(c.db, C.int64_t(id)) }

// Moved reports whether the file that this connection has open is no longer the one of its path.
func (c *Conn) Moved() bool { return C.sl_moved(c.db) != 0 }

// changeCounter is the number in the file's header that every commit into a rollback-journal file raises.
// It is read from the file, so a lock must be held that keeps writers out.
func (c *Conn) changeCounter() (uint32, error) {
	var n C.uint32_t
	if rc := C.sl_change_counter(c.db, &n); rc != 0 {
		return 0, &Error{Code: int(rc), Msg: "the file's header cannot be read", Path: c.Path}
	}
	return uint32(n), nil
}

// stableCounter is changeCounter, for whoever holds no lock yet.
func (c *Conn) stableCounter() (n uint32, err error) {
	if err := c.Exec("BEGIN"); err != nil {
		return 0, err
	}
	if _, err = c.Int("SELECT count(*) FROM main.sqlite_schema"); err == nil { // takes the readers' lock
		n, err = c.changeCounter()
	}
	return n, errors.Join(err, c.Exec("COMMIT"))
}

// writing reports whether the connection holds the file's write lock.
func (c *Conn) writing() bool { return C.sl_writing(c.db) != 0 }

// brokenKeys reports whether the open transaction has rows without the parent a foreign key asks for.
func (c *Conn) brokenKeys() bool { return C.sl_broken_keys(c.db) != 0 }

// Version is SQLite's version.
func Version() string { return C.GoString(C.sl_version()) }

// Quote quotes an identifier.
func Quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// stmt is a prepared statement.
type stmt struct {
	c *Conn
	p *C.sqlite3_stmt
}

// prepare compiles exactly one statement.
func (c *Conn) prepare(sql string) (*stmt, error) {
	if strings.IndexByte(sql, 0) >= 0 {
		return nil, &Error{Code: 1, Msg: "a name contains a NUL character", Path: c.Path}
	}
	text := C.CString(sql)
	defer C.free(unsafe.Pointer(text))
	s := &stmt{c: c}
	var tail C.int
	if rc := C.sl_prepare(c.db, text, C.int(len(sql)), &s.p, &tail); rc != 0 {
		return nil, c.newError(int(rc))
	}
	if s.p == nil || strings.TrimSpace(sql[tail:]) != "" {
		s.close()
		return nil, &Error{Code: 1, Msg: "not exactly one statement", Path: c.Path}
	}
	return s, nil
}

func (s *stmt) close() {
	if s.p != nil {
		C.sl_finalize(s.p)
		s.p = nil
	}
}

// bind sets the parameters ?1, ?2 …: nil, int64, float64, string or []byte.
func (s *stmt) bind(args []any) error {
	for i, a := range args {
		var rc C.int
		n := C.int(i + 1)
		switch v := a.(type) {
		case nil:
			continue
		case int64:
			rc = C.sl_bind_int(s.p, n, C.int64_t(v))
		case int:
			rc = C.sl_bind_int(s.p, n, C.int64_t(v))
		case float64:
			rc = C.sl_bind_double(s.p, n, C.double(v))
		case string:
			rc = C.sl_bind_text(s.p, n, (*C.char)(unsafe.Pointer(unsafe.StringData(v))), C.int64_t(len(v)))
			runtime.KeepAlive(v)
		case []byte:
			rc = C.sl_bind_blob(s.p, n, unsafe.Pointer(unsafe.SliceData(v)), C.int64_t(len(v)))
			runtime.KeepAlive(v)
		default:
			return fmt.Errorf("a parameter of type %T cannot be bound", a)
		}
		if rc != 0 {
			return s.c.newError(int(rc))
		}
	}
	return nil
}

// Exec runs one statement to its end, dropping rows.
func (c *Conn) Exec(sql string, args ...any) error {
	return c.query(sql, args, func(*stmt) error { return nil })
}

func (c *Conn) query(sql string, args []any, row func(*stmt) error) error {
	s, err := c.prepare(sql)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.bind(args); err != nil {
		return err
	}
	for {
		switch rc := C.sl_step(s.p); rc {
		case 100:
			if err := row(s); err != nil {
				return err
			}
		case 101:
			return nil
		default:
			return c.newError(int(rc))
		}
	}
}

// Rows runs one small query and returns its rows: nil, int64, float64, string or []byte a cell.
func (c *Conn) Rows(sql string, args ...any) ([][]any, error) {
	var rows [][]any
	err := c.query(sql, args, func(s *stmt) error {
		r := make([]any, int(C.sl_columns(s.p)))
		for i := range r {
			r[i] = s.value(i)
		}
		rows = append(rows, r)
		return nil
	})
	return rows, err
}

// value returns a cell of the current row.
func (s *stmt) value(i int) any {
	n := C.int(i)
	switch C.sl_type(s.p, n) {
	case 1:
		return int64(C.sl_int(s.p, n))
	case 2:
		return float64(C.sl_double(s.p, n))
	case 3:
		var size C.int
		p := C.sl_bytes(s.p, n, &size)
		return string(unsafe.Slice((*byte)(p), int(size)))
	case 4:
		var size C.int
		p := C.sl_bytes(s.p, n, &size)
		return append([]byte{}, unsafe.Slice((*byte)(p), int(size))...)
	}
	return nil
}

// Int runs a query of one integer cell; no row or NULL gives 0.
func (c *Conn) Int(sql string, args ...any) (int64, error) {
	rows, err := c.Rows(sql, args...)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	v, _ := rows[0][0].(int64)
	return v, nil
}

// Text runs a query of one text cell; no row or NULL gives "".
func (c *Conn) Text(sql string, args ...any) (string, error) {
	rows, err := c.Rows(sql, args...)
	if err != nil || len(rows) == 0 {
		return "", err
	}
	v, _ := rows[0][0].(string)
	return v, nil
}

// interruptOn interrupts c when ctx ends, until the function returned is called.
func (c *Conn) interruptOn(ctx context.Context) (stop func() bool) {
	if ctx.Done() == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(ctx, c.Interrupt)
}

// execUntil runs a write that ends when ctx does. Its transaction is lost then, and nothing may be written on the
// connection any more: an interrupt that comes late could end any statement.
func (c *Conn) execUntil(ctx context.Context, sql string, args ...any) error {
	stop := c.interruptOn(ctx)
	err := c.Exec(sql, args...)
	if !stop() {
		return context.Cause(ctx)
	}
	return err
}
