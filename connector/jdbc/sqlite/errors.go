package sqlite

// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Result codes of SQLite, the low byte of an extended code.
const (
	codePerm       = 3
	codeBusy       = 5
	codeLocked     = 6
	codeNoMem      = 7
	codeReadOnly   = 8
	codeInterrupt  = 9
	codeIOErr      = 10
	codeCorrupt    = 11
	codeFull       = 13
	codeCantOpen   = 14
	codeConstraint = 19
	codeNotADB     = 26
)

// Error is an error of SQLite about one file.
type Error struct {
	Code int // extended result code
	Msg  string
	Path string
}

// Primary is the result code without its extension.
func (e *Error) Primary() int { return e.Code & 0xff }

// Error says what is wrong with which file, in words that tell the cases apart that a person acts on
// differently.
func (e *Error) Error() string {
	name := "database " + e.Path
	switch e.Primary() {
	case codeNotADB:
		return name + ": the file is not a SQLite database"
	case codeCorrupt:
		return name + ": the file is damaged: " + e.Msg
	case codeBusy, codeLocked:
		return name + " is locked" + holder(e.Path)
	case codeFull:
		return name + ": the disk is full"
	case codeNoMem:
		return name + ": out of memory"
	case codeReadOnly:
		return name + ": " + readOnlyReason(e)
	case codeCantOpen, codePerm:
		return name + ": " + openReason(e)
	}
	return name + ": " + e.Msg
}

func (c *Conn) newError(rc int) *Error {
	e := &Error{Code: rc, Path: c.Path, Msg: fmt.Sprintf("error %d", rc)}
	if c.db != nil {
		e.Msg = C.GoString(C.sl_errmsg(c.db))
		if x := int(C.sl_errcode(c.db)); x&0xff == rc&0xff {
			e.Code = x
		}
	}
	return e
}

// primary returns the primary result code of an error, 0 when it is none of SQLite's.
func primary(err error) int {
	var e *Error
	if errors.As(err, &e) {
		return e.Primary()
	}
	return 0
}

func isBusy(err error) bool { p := primary(err); return p == codeBusy || p == codeLocked }

// readOnlyReason tells a read-only directory (SQLite needs to make a journal there) from a read-only file.
func readOnlyReason(e *Error) string {
	const dbMoved = codeReadOnly | 4<<8
	if e.Code == dbMoved {
		return "the file was removed or replaced while it was open"
	}
	if syscall.Access(e.Path, 2) != nil {
		return "the file is read-only"
	}
	if dir := filepath.Dir(e.Path); syscall.Access(dir, 2) != nil {
		return "the directory " + dir + " is read-only, and SQLite keeps its journal there"
	}
	return "read-only: " + e.Msg
}

func openReason(e *Error) string {
	dir := filepath.Dir(e.Path)
	if st, err := os.Stat(dir); err != nil {
		if os.IsNotExist(err) {
			return "the directory " + dir + " does not exist"
		}
		return "the directory cannot be entered: permission denied"
	} else if !st.IsDir() {
		return dir + " is not a directory"
	}
	st, err := os.Stat(e.Path)
	switch {
	case os.IsNotExist(err):
		if syscall.Access(dir, 2) != nil {
			return "the file does not exist, and the directory " + dir + " is read-only"
		}
		return "the file does not exist"
	case err == nil && st.IsDir():
		return "is a directory"
	case syscall.Access(e.Path, 4) != nil:
		return "permission denied"
	case syscall.Access(dir, 2) != nil:
		return "the directory " + dir + " is read-only, and SQLite keeps its journal there"
	}
	return "cannot open: " + e.Msg
}
