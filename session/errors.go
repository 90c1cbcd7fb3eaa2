package session

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Error is what leaves Execute and Result.Next. No secret of the session is in any of its texts.
type Error struct {
	Msg  string
	Hint string // what to do about it; may be empty
	// Line and Column, from 1, are the place in the script at fault; where no part of the text is at
	// fault it is the statement's start.
	Line, Column int
	// Canceled is set when the user's cancel ended the statement. Msg is then "canceled", or "canceled: "
	// and what the statement was waiting for.
	Canceled bool
	// InDoubt is set when a commit's outcome is not known.
	InDoubt bool
	// Internal has the details of an internal error, for a bug report.
	Internal string
	// Err is the cause, for errors.Is; its text is not to be shown.
	Err error

	rendered string
}

// Error returns the message and the hint, without a position.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Msg
	}
	return e.Msg + " (" + e.Hint + ")"
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Render returns the error as lines of text, each ended by a newline: file:line:column and message, the
// line of SQL with a caret where a part of it is at fault, and the hint.
func (e *Error) Render() string { return e.rendered }

// refuse makes an error at a place of the statement's text.
func refuse(at sqlparse.Span, format string, args ...any) *sqlparse.Error {
	return &sqlparse.Error{Span: at, Msg: fmt.Sprintf(format, args...)}
}

// noPlace is the span of errors that no part of the statement is to blame for.
var noPlace = sqlparse.Span{Start: -1, End: -1}

// fail turns any error of a statement into the one that is shown.
func (s *Session) fail(x *execution, err error) *Error {
	var done *Error
	if errors.As(err, &done) {
		return done
	}
	e := &Error{Err: err}
	at := noPlace

	var (
		parse  *sqlparse.Error
		run    *exec.Error
		value  *expr.Error
		named  *catalog.Error
		column *catalog.ColumnError
		option *connector.OptionError
	)
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	switch {
	case ended && !errors.As(err, &run):
		e.Msg, e.Canceled = "canceled", true
	case errors.As(err, &run):
		table := s.tableOf(x.stmt, run)
		e.Msg, e.Hint, e.Internal = describeRun(run, table), run.Hint, run.Internal
		e.Canceled, e.InDoubt = run.State == exec.Canceled, run.State == exec.InDoubt
		if e.Canceled {
			e.Msg = "canceled" + run.Detail
		}
		at = s.placeOf(x, run.Span, e)
		switch {
		case at != noPlace || run.Span.Source != 0 || e.Canceled:
		case run.Column != "":
			at = locateColumn(x.stmt, run.Column)
		case table != nil:
			at = table.span()
		default:
			at = locateOperator(x, run)
		}
	case errors.As(err, &parse):
		e.Msg, e.Hint, at = parse.Msg, parse.Hint, parse.Span
	case errors.As(err, &value):
		e.Msg, e.Hint = value.Msg, value.Hint
		at = s.placeOf(x, value.Span, e)
	case errors.As(err, &named):
		e.Msg, e.Hint, at = named.Msg, named.Hint, locateName(x.stmt, named)
	case errors.As(err, &column):
		e.Msg, at = err.Error(), locateColumn(x.stmt, column.Column)
	case errors.As(err, &option):
		e.Msg, at = err.Error(), locateOption(x.stmt, option)
	default:
		e.Msg, at = err.Error(), locateSubject(x.stmt)
	}
	e.Msg, e.Hint, e.Internal = s.scrub(x, e.Msg), s.scrub(x, e.Hint), s.scrub(x, e.Internal)
	src := sqlparse.Source{Name: x.masked.Name, Text: s.scrubSource(x), Line: x.masked.Line, Column: x.masked.Column}
	if at == noPlace {
		e.Line, e.Column = max(src.Line, 1), max(src.Column, 1)
		e.rendered = renderPlain(src.Name, e)
		return e
	}
	e.Line, e.Column = src.Position(at.Start)
	e.rendered = (&sqlparse.Error{Span: at, Msg: e.Msg, Hint: e.Hint}).Render(src)
	return e
}

// renderPlain is the form of an error without a source line.
func renderPlain(name string, e *Error) string {
	var b strings.Builder
	if name != "" {
		b.WriteString(name + ":")
	}
	fmt.Fprintf(&b, "%d:%d: %s\n", e.Line, e.Column, e.Msg)
	if e.Hint != "" {
		b.WriteString("hint: " + e.Hint + "\n")
	}
	return b.String()
}

// describeRun is the message of a job's error. It names the table at fault once: the place in the statement
// does, or the words that say what the job was doing, or else it is added.
func describeRun(e *exec.Error, table *objectName) string {
	switch {
	case table != nil:
		return nameOnce(e, table.id)
	case e.Table != "" && e.Doing == "" && e.Column == "":
		return e.Msg + " (table " + e.Table + ")"
	}
	return e.Msg
}

// nameOnce shortens a message in which the store names its table again behind the words of the job that met
// the error, "read table c.d.t: " or "write table c.d.t: ".
func nameOnce(e *exec.Error, id connector.ObjectIdentifier) string {
	full := "table " + id.String()
	if !strings.HasSuffix(e.Doing, full) {
		return e.Msg
	}
	head, rest := e.Msg[:len(e.Doing)+2], e.Msg[len(e.Doing)+2:]
	for _, again := range []string{full, "table " + id.Object} {
		at := strings.Index(rest, again)
		if at < 0 || strings.Contains(rest[:at], ": ") {
			continue
		}
		switch after := rest[at+len(again):]; {
		case strings.HasPrefix(after, ": "): // "keep the rows of table c.d.t: no space left"
			return head + after[2:]
		case at == 0 && strings.HasPrefix(after, ", "): // "table t, column a: …"
			return head + after[2:]
		case at == 0 && strings.HasPrefix(after, " "): // "table t was dropped"
			return full + after
		}
	}
	return e.Msg
}

// placeOf returns the place of an expression in the statement's text. One in the text of a view is where
// the statement reads the view, and the message names the view.
func (s *Session) placeOf(x *execution, at expr.Span, e *Error) sqlparse.Span {
	if at.End == 0 {
		return noPlace
	}
	if at.Source == 0 {
		return sqlparse.Span{Start: int(at.Start), End: int(at.End)}
	}
	if int(at.Source) >= len(x.texts) {
		return noPlace
	}
	text := x.texts[at.Source]
	e.Msg = strings.ToUpper(text.Name[:1]) + text.Name[1:] + ": " + e.Msg
	if int(at.End) <= len(text.SQL) {
		e.Msg += ", in " + snippet(text.SQL[at.Start:at.End])
	}
	var reads []objectName
	for _, n := range objectNames(x.stmt) {
		if n.level != 2 || !n.read {
			continue
		}
		if text.Object != nil && *text.Object == s.identify(sqlparse.ObjectName{Parts: n.parts}) {
			return n.span()
		}
		reads = append(reads, n)
	}
	if len(reads) == 1 { // through another view
		return reads[0].span()
	}
	return noPlace
}

// snippet is a piece of SQL for a message: on one line, and not long.
func snippet(sql string) string {
	sql = strings.Join(strings.Fields(sql), " ")
	if r := []rune(sql); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return sql
}
