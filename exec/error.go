package exec

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
)

// Error is why a job did not finish. Session makes the position of it.
type Error struct {
	Span expr.Span // zero: no place in the statement
	Msg  string
	Hint string
	// Doing is the work that met the error, such as "read table c.d.t", where Msg begins with that.
	Doing string
	// Operator is the operator that ran out of memory, such as OperatorSort; "" where none did.
	Operator string
	Table    string // the table read or written, where that is at fault
	// Column is the target column at fault, Row the number of the row written, from 1; -1: none.
	Column string
	Row    int64
	State  State // the job's final state
	// Detail is what Msg says of an aborted job behind its cause: what it was waiting for when it was
	// canceled, and that its clean-up failed.
	Detail string
	// Err is what it was made of.
	Err error
	// Internal has the details of an internal error, for a bug report; they are no part of the message.
	Internal string
}

// Error returns the message and the hint.
func (e *Error) Error() string {
	if e.Hint != "" {
		return e.Msg + " (" + e.Hint + ")"
	}
	return e.Msg
}

// Unwrap returns the underlying error.
func (e *Error) Unwrap() error { return e.Err }

// errCanceled is the cause of a job's end by Cancel, errStopped that of a pipeline whose rows nobody
// wants any more.
var (
	errCanceled = errors.New("the job was canceled")
	errStopped  = errors.New("no more rows are wanted")
)

// alsoError is an error and that of a close that followed.
type alsoError struct{ first, then error }

func (e *alsoError) Error() string   { return e.first.Error() + "; " + e.text() }
func (e *alsoError) Unwrap() []error { return []error{e.first, e.then} }
func (e *alsoError) text() string    { return "closing failed, too: " + e.then.Error() }

// also adds the error of a close, nil or not, to an error, nil or not.
func also(err, then error) error {
	switch {
	case then == nil:
		return err
	case err == nil:
		return then
	}
	return &alsoError{err, then}
}

// toError makes an *Error of any error; what names the work that met it, such as "read table c.d.t",
// and is left out when the error knows its place in the statement.
func toError(err error, what string) *Error {
	var both *alsoError
	if errors.As(err, &both) {
		e := *toError(both.first, what)
		e.Msg += "; " + both.text()
		e.Err = errors.Join(e.Err, both.then)
		return &e
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	var ee *expr.Error
	if errors.As(err, &ee) {
		e := &Error{Span: ee.Span, Msg: ee.Msg, Hint: ee.Hint, Row: -1, Err: err}
		if ee.Span == (expr.Span{}) {
			e.met(what)
		}
		return e
	}
	msg := err.Error()
	if errors.Is(err, context.DeadlineExceeded) {
		msg = "took too long"
	}
	e := &Error{Msg: msg, Row: -1, Err: err}
	e.met(what)
	return e
}

// met puts the work that met the error, if any, before its message.
func (e *Error) met(what string) {
	if what != "" {
		e.Doing, e.Msg = what, what+": "+e.Msg
	}
}

// outOfMemory makes the error of an operator that could not keep its rows.
func outOfMemory(operator string, err error) error {
	var m *connector.MemoryError
	if !errors.As(err, &m) {
		return err
	}
	return &Error{Row: -1, Err: err, Operator: operator,
		Msg:  fmt.Sprintf("%s is out of memory: it asked for %s more, and %s of the budget of %s are in use", operator, bytesText(m.Want), bytesText(m.Used), bytesText(m.Limit)),
		Hint: "raise the budget with SET 'sluice.memory' = '<size>'"}
}

func bytesText(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}
