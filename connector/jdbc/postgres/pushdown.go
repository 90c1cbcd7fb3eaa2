package postgres

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/connector/jdbc/pushdown"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/types"
)

// Conjuncts over a table's schema are turned into the server's own conditions where the server leaves out only rows
// that the engine, which applies them again, would leave out as well (rows with values that do not fit apart). These
// are comparisons of a column with literals, and tests for NULL, of columns that are read as what they are: numbers,
// text, dates and timestamps. Text is compared by its bytes. A double compares NaN above all numbers on the server and
// with nothing here, so that a comparison keeps at least the rows that the engine does.

// PushFilter reports whether the server would apply a conjunct.
func (t *Table) PushFilter(e expr.Expr) bool {
	_, ok := t.condition(e)
	return ok
}

// condition returns the SQL of a conjunct, and false when the server is not to apply it.
func (t *Table) condition(e expr.Expr) (string, bool) {
	call, ok := e.(*expr.Call)
	if !ok {
		return "", false
	}
	name, a := call.Func.Name, call.Args
	if op, mirrored := pushdown.Comparison(name); op != "" && len(a) == 2 {
		left, right := a[0], a[1]
		if _, ok := left.(*expr.Literal); ok {
			left, right, op = right, left, mirrored
		}
		return t.compare(left, op, right)
	}
	switch {
	case name == "AND" && len(a) > 0:
		parts := make([]string, len(a))
		for i, x := range a {
			if parts[i], ok = t.condition(x); !ok {
				return "", false
			}
		}
		return "(" + strings.Join(parts, " AND ") + ")", true
	case (name == "IS NULL" || name == "IS NOT NULL") && len(a) == 1:
		// With misfits read as NULL, a value that is NULL here may be something else there.
		c, ok := a[0].(*expr.Column)
		if !ok || c.Index < 0 || c.Index >= len(t.schema.Columns) || name == "IS NULL" && t.misfitNull {
			return "", false
		}
		col, err := t.column(c.Index)
		if err != nil {
			return "", false
		}
		return "(t." + quote(col.name) + " " + name + ")", true
	case name == "BETWEEN" && len(a) == 3:
		low, ok1 := t.compare(a[0], ">=", a[1])
		high, ok2 := t.compare(a[0], "<=", a[2])
		return "(" + low + " AND " + high + ")", ok1 && ok2
	case name == "IN" && len(a) > 1:
		list := make([]string, len(a)-1)
		sql, col, ok := t.compared(a[0], true)
		if !ok {
			return "", false
		}
		for i, x := range a[1:] {
			if list[i], ok = t.literal(col, x); !ok {
				return "", false
			}
		}
		return sql + " IN (" + strings.Join(list, ", ") + ")", true
	}
	return "", false
}

func (t *Table) compare(left expr.Expr, op string, right expr.Expr) (string, bool) {
	sql, want, ok := t.compared(left, op == "=")
	if !ok {
		return "", false
	}
	lit, ok := t.literal(want, right)
	return sql + " " + op + " " + lit, ok
}

// compared returns the SQL of a column reference that may be compared, and its type. A cast that loses nothing is seen
// through.
func (t *Table) compared(e expr.Expr, equality bool) (string, types.Type, bool) {
	c, ok := pushdown.Column(e)
	if !ok || c.Index < 0 || c.Index >= len(t.schema.Columns) {
		return "", types.Type{}, false
	}
	col, err := t.column(c.Index)
	if err != nil {
		return "", types.Type{}, false
	}
	want := t.schema.Columns[c.Index].Type
	sql := "t." + quote(col.name)
	switch stored := col.stored.oid; {
	case want.IsInteger():
		return sql, want, stored == oidInt2 || stored == oidInt4 || stored == oidInt8
	case want.Kind == types.Double:
		return sql, want, stored == oidFloat8
	case want.Kind == types.VarChar:
		// Bytes of other encodings have another order than UTF-8's. A varchar has no operators of its own.
		return sql + `::pg_catalog.text COLLATE pg_catalog."C"`, want, (stored == oidText || stored == oidVarchar) && (equality || t.anyText())
	case want.Kind == types.Decimal:
		return sql, want, stored == oidNumeric
	case want.Kind == types.Date:
		return sql, want, stored == oidDate
	case want.Kind == types.Timestamp:
		return sql, want, stored == oidTimestamp
	case want.Kind == types.TimestampLTZ:
		return sql, want, stored == oidTimestamptz
	}
	return "", want, false
}

// anyText reports whether text is stored as the bytes that we have.
func (t *Table) anyText() bool { return t.encoding == "UTF8" || t.encoding == "SQL_ASCII" }

// literal writes a literal that may be compared with a column of type want. COPY takes no parameters: the text is made
// of digits, or quoted.
func (t *Table) literal(want types.Type, e expr.Expr) (string, bool) {
	v, ok := pushdown.Literal(e)
	if !ok {
		return "", false
	}
	written := func(as string) (string, bool) {
		return literal(string(column.AppendText(nil, v, 0, nil))) + "::pg_catalog." + as, true
	}
	switch {
	case want.IsInteger() && v.Type.IsInteger():
		return "'" + strconv.FormatInt(v.Int64(0), 10) + "'::pg_catalog.int8", true
	case want.Kind == types.Double && v.Type.Kind == types.Double && !math.IsNaN(v.F64[0]):
		return "'" + strconv.FormatFloat(v.F64[0], 'g', -1, 64) + "'::pg_catalog.float8", true
	case want.IsString() && v.Type.IsString():
		s := string(v.Value(0))
		// Text that the server's encoding lacks would be an error there, and is in no row.
		foreign := !t.anyText() && strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0
		return literal(s), utf8.ValidString(s) && strings.IndexByte(s, 0) < 0 && !foreign
	case want.Kind == types.Decimal && v.Type.Kind == types.Decimal:
		return written("numeric")
	case want.Kind == types.Date && v.Type.Kind == types.Date:
		return written("date")
	case want.Kind == types.Timestamp && v.Type.Kind == types.Timestamp && !v.Type.Nanos():
		return written("timestamp")
	case want.Kind == types.TimestampLTZ && v.Type.Kind == types.TimestampLTZ && !v.Type.Nanos():
		s := string(column.AppendText(nil, v, 0, nil))
		return literal(s+"+00") + "::pg_catalog.timestamptz", true
	}
	return "", false
}
