package sqlite

// #include "shim.h"
import "C"

import (
	"errors"
	"strings"
	"unsafe"
)

// uses compiles a statement and returns by what it uses a table: the name of the view or trigger that does, "" for
// the statement itself. SQLite tells its authorizer of every table that it looks up, so nothing is guessed from
// texts. What does not compile uses what was looked up before it failed.
func (c *Conn) uses(sql, table string) ([]string, error) {
	if strings.IndexByte(sql, 0) >= 0 || strings.IndexByte(table, 0) >= 0 {
		return nil, nil
	}
	name := append([]byte(table), 0)
	watch := C.sl_watch_new(c.db, (*C.char)(unsafe.Pointer(&name[0])))
	if watch == nil {
		return nil, &Error{Code: codeNoMem, Path: c.Path}
	}
	s, err := c.prepare(sql)
	if err == nil {
		s.close()
	}
	n := C.int(0)
	text := C.GoStringN(C.sl_watch_names(watch, &n), n)
	C.sl_watch_free(watch)
	var e *Error
	if err != nil && !(errors.As(err, &e) && e.Primary() == codeError) {
		return nil, err
	}
	if text == "" {
		return nil, nil
	}
	return strings.Split(strings.TrimSuffix(text, "\x00"), "\x00"), nil
}
