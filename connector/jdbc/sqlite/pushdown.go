package sqlite

import (
	"fmt"
	"math"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector/jdbc/pushdown"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// pushed turns conjuncts over a table's schema into SQLite's own conditions. Only those are turned whose
// meaning is the same here and there: a column of an integer type, DOUBLE or text that holds nothing else
// (misfits apart), compared with literals, or tested for NULL. Text is compared by bytes.
type pushed struct {
	info   *TableInfo
	schema types.Schema
	store  *Store
	next   int // number of the next parameter
	args   []any
}

// condition returns the SQL of a conjunct, and false when SQLite is not to apply it.
func (p *pushed) condition(e expr.Expr) (string, bool) {
	call, ok := e.(*expr.Call)
	if !ok || p.info.View || p.info.Virtual {
		return "", false
	}
	mark, args := p.next, len(p.args)
	text, ok := p.call(call)
	if !ok {
		p.next, p.args = mark, p.args[:args]
	}
	return text, ok
}

func (p *pushed) call(call *expr.Call) (string, bool) {
	name, a := call.Func.Name, call.Args
	op, mirrored := pushdown.Comparison(name)
	switch {
	case name == "AND":
		parts := make([]string, len(a))
		for i, x := range a {
			text, ok := p.condition(x)
			if !ok {
				return "", false
			}
			parts[i] = text
		}
		return "(" + strings.Join(parts, " AND ") + ")", len(parts) > 0
	case (name == "IS NULL" || name == "IS NOT NULL") && len(a) == 1:
		// With misfits read as NULL, a cell that is NULL here may be something else there.
		col, ok := p.nullTest(a[0])
		return "(" + col + " " + name + ")", ok && !(name == "IS NULL" && p.store.MisfitNull)
	case op != "" && len(a) == 2:
		left, right := a[0], a[1]
		if _, ok := left.(*expr.Literal); ok {
			left, right, op = right, left, mirrored
		}
		return p.compare(left, op, right)
	case name == "BETWEEN" && len(a) == 3:
		low, ok1 := p.compare(a[0], ">=", a[1])
		high, ok2 := p.compare(a[0], "<=", a[2])
		return "(" + low + " AND " + high + ")", ok1 && ok2
	case name == "IN" && len(a) > 1:
		return p.in(a[0], a[1:])
	}
	return "", false
}

func (p *pushed) compare(left expr.Expr, op string, right expr.Expr) (string, bool) {
	col, t, ok := p.column(left, op == "=")
	if !ok {
		return "", false
	}
	param, ok := p.literal(t, right)
	return col + " " + op + " " + param, ok
}

func (p *pushed) in(left expr.Expr, list []expr.Expr) (string, bool) {
	col, t, ok := p.column(left, true)
	if !ok {
		return "", false
	}
	params := make([]string, len(list))
	for i, e := range list {
		if params[i], ok = p.literal(t, e); !ok {
			return "", false
		}
	}
	return col + " IN (" + strings.Join(params, ", ") + ")", true
}

// column returns the SQL of a column reference that may be compared. A cast that loses nothing is seen
// through.
func (p *pushed) column(e expr.Expr, equality bool) (string, types.Type, bool) {
	c, ok := pushdown.Column(e)
	if !ok || c.Index < 0 || c.Index >= len(p.schema.Columns) {
		return "", types.Type{}, false
	}
	name, t := p.schema.Columns[c.Index].Name, p.schema.Columns[c.Index].Type
	had, ok := p.info.column(name)
	if !ok || p.store.asText(p.info.Name, name) {
		return "", t, false
	}
	text := affinityOf(had.Declared) == affinityText
	sql := "t." + Quote(name)
	switch {
	case t.IsInteger() || t.Kind == types.Double:
		return sql, t, !text
	case t.IsString():
		// UTF-16 bytes have another order than UTF-8's.
		return sql + " COLLATE BINARY", t, text && (equality || !p.info.UTF16)
	}
	return "", t, false
}

// nullTest returns the SQL of any column that can be tested for NULL.
func (p *pushed) nullTest(e expr.Expr) (string, bool) {
	c, ok := e.(*expr.Column)
	if !ok || c.Index < 0 || c.Index >= len(p.schema.Columns) {
		return "", false
	}
	name, t := p.schema.Columns[c.Index].Name, p.schema.Columns[c.Index].Type
	if !t.IsInteger() && t.Kind != types.Double && !t.IsString() {
		return "", false
	}
	return "t." + Quote(name), true
}

// literal binds a literal that may be compared with a column of type t.
func (p *pushed) literal(t types.Type, e expr.Expr) (string, bool) {
	v, ok := pushdown.Literal(e)
	if !ok {
		return "", false
	}
	var arg any
	switch {
	case t.IsInteger() && v.Type.IsInteger():
		arg = v.Int64(0)
	case t.Kind == types.Double && v.Type.Kind == types.Double && !math.IsNaN(v.F64[0]):
		arg = v.F64[0]
	case t.IsString() && v.Type.IsString() && column.PhysicalOf(v.Type) == column.PhysBytes:
		arg = string(v.Value(0))
	default:
		return "", false
	}
	p.args = append(p.args, arg)
	p.next++
	return fmt.Sprintf("?%d", p.next-1), true
}
