package bind

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
)

// span makes a position of the statement (text 0 of the job) out of one of its tree.
func span(s sqlparse.Span) expr.Span {
	return expr.Span{Start: uint32(s.Start), End: uint32(s.End)}
}

func errAt(at sqlparse.Span, format string, args ...any) *sqlparse.Error {
	return &sqlparse.Error{Span: at, Msg: fmt.Sprintf(format, args...)}
}

func withHint(e *sqlparse.Error, format string, args ...any) *sqlparse.Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// count writes a number of things: "1 column", "2 columns".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// notYet refuses what parses but does not run.
func notYet(at sqlparse.Span, what string) *sqlparse.Error {
	return errAt(at, "%s is not supported yet", what)
}

// positioned makes an error of an expression one of the statement's text; others pass.
func positioned(err error) error {
	var e *expr.Error
	if errors.As(err, &e) {
		return &sqlparse.Error{Span: sqlparse.Span{Start: int(e.Span.Start), End: int(e.Span.End)}, Msg: e.Msg, Hint: e.Hint}
	}
	return err
}

// didYouMean is the hint for a name that is nearly one of candidates, or nothing.
func didYouMean(name string, candidates []string) string {
	if c := connector.Closest(name, candidates); c != "" {
		return "did you mean " + connector.QuoteName(c) + "?"
	}
	return ""
}

// atName puts an error of the catalogs at the part of the name that is at fault.
func atName(err error, name sqlparse.ObjectName) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var e *catalog.Error
	if !errors.As(err, &e) {
		var positioned *sqlparse.Error
		if errors.As(err, &positioned) {
			return err
		}
		return &sqlparse.Error{Span: name.Span(), Msg: err.Error()}
	}
	at := name.Span()
	if e.Part == catalog.AnyPart {
		for _, p := range name.Parts {
			if p.Name == e.Name {
				at = p.Span()
			}
		}
	} else if i := len(name.Parts) - 1 - int(catalog.ObjectPart-e.Part); i >= 0 {
		at = name.Parts[i].Span()
	}
	return &sqlparse.Error{Span: at, Msg: e.Msg, Hint: e.Hint}
}
