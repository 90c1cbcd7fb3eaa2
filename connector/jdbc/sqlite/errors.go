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
	Sys  syscall.Errno // of the system call that failed, where SQLite keeps it
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
	case codeIOErr:
		switch e.Sys {
		case 0:
			return name + ": " + ioReason(e.Code)
		case syscall.EFBIG, syscall.ENOSPC, syscall.EDQUOT:
			return name + ": " + fullReason()
		default:
			return name + ": " + ioReason(e.Code) + " (" + e.Sys.Error() + ")"
		}
	case codeFull:
		return name + ": " + fullReason()
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
			if e.Primary() == codeIOErr {
				e.Sys = syscall.Errno(C.sl_errno(c.db))
			}
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

// ioReason says what could not be done with a file, or its journal.
func ioReason(code int) string {
	switch code {
	case ioRead, ioShortRead:
		return "the file cannot be read"
	case ioWrite, ioTruncate:
		return "the file cannot be written"
	case ioFsync, ioDirFsync:
		return "what was written cannot be made durable, fsync fails"
	case ioDelete:
		return "its journal cannot be removed"
	case ioRdLock, ioLock, ioUnlock, ioCheckLock, ioShmLock:
		return "it cannot be locked"
	case ioShmOpen, ioShmSize, ioShmMap:
		return "its -shm file cannot be used"
	}
	return "the disk reports an error"
}

// fullReason tells a full disk from a limit of this process, as far as that can be told.
func fullReason() string {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit) == nil && limit.Cur>>62 == 0 {
		return fmt.Sprintf("the disk is full, or the limit on the size of a file is reached (%s bytes, see ulimit -f)", groups(int64(limit.Cur)))
	}
	return "the disk is full"
}

// readOnlyReason tells a read-only directory (SQLite needs to make a journal there) from a read-only file.
func readOnlyReason(e *Error) string {
	const dbMoved = codeReadOnly | 4<<8
	if e.Code == dbMoved {
		return "the file was removed or replaced while it was open"
	}
	if syscall.Access(e.Path, 2) != nil {
		return "the file is read-only"
	}
	if dir := filepath.Dir(canonical(e.Path)); syscall.Access(dir, 2) != nil {
		return "the directory " + dir + " is read-only, and SQLite keeps its journal there"
	}
	return "read-only: " + e.Msg
}

func openReason(e *Error) string {
	dir := filepath.Dir(canonical(e.Path))
	if st, err := os.Stat(dir); err != nil {
		if os.IsNotExist(err) {
			return "the directory " + dir + " does not exist"
		}
		return "the directory cannot be entered: permission denied"
	} else if !st.IsDir() {
		return dir + " is not a directory"
	}
	if st, err := os.Stat(canonical(e.Path) + journalSuffix); err == nil && st.IsDir() {
		return e.Path + journalSuffix + " is a directory, and SQLite keeps its journal there"
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
