package mysql

import (
	"math"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector/jdbc/pushdown"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// pushed turns conjuncts over a table's schema into the server's own conditions. Only those are turned whose
// meaning is the same here and there: a column of an integer type, DOUBLE or VARCHAR compared with literals, or
// tested for NULL. Text is compared by bytes: the server's collations do not tell all texts apart. It is text in utf8mb4
// alone: other character sets do not have every literal, and some of them turn two characters into one of ours.
type pushed struct {
	table  *table
	schema types.Schema
}

// condition returns the SQL of a conjunct, and false when the server is not to apply it.
func (p *pushed) condition(e expr.Expr) (string, bool) {
	call, ok := e.(*expr.Call)
	if !ok || p.table.view() {
		return "", false
	}
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
		c, ok := a[0].(*expr.Column)
		if !ok {
			return "", false
		}
		had, _, ok := p.column(c)
		if !ok {
			return "", false
		}
		return "(t." + quote(had.name) + " " + name + ")", true
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

// column finds a column that may be compared: whose values are those of its type here, neither more nor fewer.
func (p *pushed) column(c *expr.Column) (*tableColumn, types.Type, bool) {
	if c.Index < 0 || c.Index >= len(p.schema.Columns) {
		return nil, types.Type{}, false
	}
	want := p.schema.Columns[c.Index]
	had := p.table.column(want.Name)
	if had == nil {
		return nil, types.Type{}, false
	}
	integer := had.t.IsInteger() && had.declared.name != "year" || had.declared.name == "tinyint"
	switch t := want.Type; {
	case t.IsInteger():
		return had, t, integer
	case t.Kind == types.Double:
		return had, t, had.declared.name == "double" && len(had.declared.args) == 0
	case t.Kind == types.VarChar:
		text := had.declared.name == "varchar" || strings.HasSuffix(had.declared.name, "text")
		return had, t, text && had.charset == "utf8mb4"
	}
	return nil, types.Type{}, false
}

func (p *pushed) compare(left expr.Expr, op string, right expr.Expr) (string, bool) {
	c, ok := pushdown.Column(left)
	if !ok {
		return "", false
	}
	had, t, ok := p.column(c)
	if !ok {
		return "", false
	}
	text, ok := constant(t, right)
	if !ok {
		return "", false
	}
	name := "t." + quote(had.name)
	if t.Kind != types.VarChar {
		return "(" + name + " " + op + " " + text + ")", true
	}
	exact := bytesOf(name) + " " + op + " _binary" + text
	if op == "=" {
		// What is equal by bytes is so under every collation: the first comparison may use an index.
		exact = name + " = " + text + " AND " + exact
	}
	return "(" + exact + ")", true
}

// bytesOf is a text column as its UTF-8 bytes, whose order is that of the characters.
func bytesOf(name string) string { return "CAST(CONVERT(" + name + " USING utf8mb4) AS BINARY)" }

func (p *pushed) in(left expr.Expr, list []expr.Expr) (string, bool) {
	c, ok := pushdown.Column(left)
	if !ok {
		return "", false
	}
	had, t, ok := p.column(c)
	if !ok {
		return "", false
	}
	texts := make([]string, len(list))
	for i, e := range list {
		if texts[i], ok = constant(t, e); !ok {
			return "", false
		}
	}
	name := "t." + quote(had.name)
	if t.Kind != types.VarChar {
		return "(" + name + " IN (" + strings.Join(texts, ", ") + "))", true
	}
	return "(" + name + " IN (" + strings.Join(texts, ", ") + ") AND " + bytesOf(name) + " IN (_binary" + strings.Join(texts, ", _binary") + "))", true
}

// constant writes a literal that may be compared with a column of type t.
func constant(t types.Type, e expr.Expr) (string, bool) {
	v, ok := pushdown.Literal(e)
	if !ok {
		return "", false
	}
	switch {
	case t.IsInteger() && v.Type.IsInteger():
		return strconv.FormatInt(v.Int64(0), 10), true
	case t.Kind == types.Double && v.Type.Kind == types.Double && !math.IsNaN(v.F64[0]) && !math.IsInf(v.F64[0], 0):
		return strconv.FormatFloat(v.F64[0], 'e', -1, 64), true
	case t.Kind == types.VarChar && v.Type.Kind == types.VarChar && column.PhysicalOf(v.Type) == column.PhysBytes:
		return literal(string(v.Value(0))), true
	}
	return "", false
}
