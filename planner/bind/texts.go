package bind

import (
	"math"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// texts are those that the expressions of a statement come from besides its own: the queries of views and
// the expressions of computed columns. Binding them gives places as if they were the statement; moved makes
// them places of their own text.
type texts struct {
	given int // texts that the job has already
	list  []job.Text
	index map[textKey]uint16
}

type textKey struct {
	name string
	of   connector.ObjectIdentifier
}

// add returns the number of a text, which is added at its first use. Beyond what numbers there are the
// expressions have no place.
func (t *texts) add(name, sql string, of connector.ObjectIdentifier) (source uint16, ok bool) {
	if i, ok := t.index[textKey{name, of}]; ok {
		return i, true
	}
	n := t.given + len(t.list)
	if n > math.MaxUint16 {
		return 0, false
	}
	if t.index == nil {
		t.index = map[textKey]uint16{}
	}
	t.index[textKey{name, of}] = uint16(n)
	t.list = append(t.list, job.Text{Name: name, Object: &of, SQL: sql, Line: 1, Column: 1})
	return uint16(n), true
}

// moved returns what gives an expression its place in a text that begins at byte from of what was bound.
// A place in another text stays.
func (t *texts) moved(name, sql string, of connector.ObjectIdentifier, from int) func(expr.Span) expr.Span {
	source, ok := t.add(name, sql, of)
	return func(at expr.Span) expr.Span {
		switch {
		case at.Source != 0 || at.End == 0:
			return at
		case !ok || int(at.Start) < from:
			return expr.Span{}
		}
		return expr.Span{Source: source, Start: at.Start - uint32(from), End: at.End - uint32(from)}
	}
}

// movedPlan gives the expressions of a plan their places in a text.
func (t *texts) movedPlan(n plan.Node, name, sql string, of connector.ObjectIdentifier) plan.Node {
	return plan.MapSpans(n, t.moved(name, sql, of, 0))
}

// selectPrefix makes a query, which can be parsed, of an expression.
const selectPrefix = "SELECT "

// parseQuery parses a query that was stored as text.
func parseQuery(text string) (sqlparse.Query, error) {
	stmt, err := sqlparse.Parse(text)
	if err != nil {
		return nil, err
	}
	q, ok := stmt.(*sqlparse.QueryStatement)
	if !ok {
		return nil, errAt(stmt.Span(), "found %s, expected a query", stmt.Form())
	}
	return q.Query, nil
}

// parseExpr parses an expression that was stored as text; its places begin behind selectPrefix.
func parseExpr(text string) (sqlparse.Expr, error) {
	q, err := parseQuery(selectPrefix + text)
	if err != nil {
		return nil, err
	}
	s, ok := q.(*sqlparse.Select)
	if !ok || len(s.Items) != 1 || s.Items[0].Alias != nil || s.From != nil {
		return nil, errAt(q.Span(), "found more than an expression")
	}
	return s.Items[0].Expr, nil
}
