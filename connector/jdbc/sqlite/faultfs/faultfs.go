package faultfs

/*
#include "faultfs.h"
*/
import "C"

import (
	"fmt"

	_ "github.com/mattn/go-sqlite3" // for the amalgamation it links in
)

// Calls is a set of kinds of calls.
type Calls int

// The kinds.
const (
	Open     Calls = C.FF_OPEN
	Read     Calls = C.FF_READ
	Write    Calls = C.FF_WRITE
	Truncate Calls = C.FF_TRUNCATE
	Sync     Calls = C.FF_SYNC
	Size     Calls = C.FF_SIZE
	Lock     Calls = C.FF_LOCK // the locks of a database file
	Delete   Calls = C.FF_DELETE
	Access   Calls = C.FF_ACCESS // whether a file is there
	Shm      Calls = C.FF_SHM    // the memory that the users of a WAL share
	ShmLock  Calls = C.FF_SHMLOCK
	Malloc   Calls = C.FF_MALLOC
	Grow     Calls = C.FF_GROW // writes that make a file longer: those that a full disk refuses
)

// How says how much of a call that fails happens.
type How int

// The ways.
const (
	NotDone How = C.FF_NOT_DONE
	Half    How = C.FF_HALF // of a write
	Done    How = C.FF_DONE // all of it, and yet the error comes
)

// Fault is a failure to come.
type Fault struct {
	Calls Calls
	// Nth is which of the calls fails, from 1 on; 0: none, they are counted only.
	Nth int
	// Lasting makes those behind it fail, too.
	Lasting bool
	How     How
	// Code is SQLite's extended result code.
	Code int
}

// Install puts the file system that fails in the place of SQLite's own. It has to come before any use of SQLite.
func Install() error {
	if rc := C.ff_install(); rc != 0 {
		return fmt.Errorf("the file system that fails cannot be installed, error %d of SQLite: has something used SQLite before?", int(rc))
	}
	return nil
}

// Arm makes a fault come; it replaces one that is armed.
func Arm(f Fault) {
	lasting := C.int(0)
	if f.Lasting {
		lasting = 1
	}
	C.ff_arm(C.int(f.Calls), C.int64_t(f.Nth), lasting, C.int(f.How), C.int(f.Code))
}

// Disarm lets all calls through again, and returns how many of the fault's kinds there were since Arm, and failed.
func Disarm() (calls, failed int) {
	var n C.int64_t
	calls = int(C.ff_disarm(&n))
	return calls, int(n)
}
