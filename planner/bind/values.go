package bind

import (
	"sort"

	"github.com/sluice-sql/sluice/column"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// values binds VALUES. Literals go from the tree straight into batches, in one pass for the types and one
// for the values, so that a million of them take no node each. Other cells are bound and folded; what is
// not constant (RAND(), an expression that fails) is computed by a projection over the rows.
func (b *Binder) values(q *sqlparse.Values, parent *scope) (*Relation, error) {
	width := len(q.Rows[0].Items)
	v := &valuesBinder{rows: q.Rows, types: make([]types.Type, width), cells: map[int]expr.Expr{}}
	c := &exprCtx{b: b, scope: &scope{parent: parent}, clause: "VALUES list"}
	last := make([]types.Type, width)
	sources := make([][]cell, width) // the cells with which the type changes
	for r := range q.Rows {
		row := &q.Rows[r]
		if len(row.Items) != width {
			return nil, errAt(row.Span(), "All rows of VALUES must have the same number of columns: this has %d, the first has %d", len(row.Items), width)
		}
		for i, e := range row.Items {
			var t types.Type
			if l, negative, ok := plainLiteral(e); ok {
				var err error
				if t, err = literalType(l, negative); err != nil {
					return nil, err
				}
			} else {
				x, err := c.expr(e)
				if err != nil {
					return nil, err
				}
				x = expr.Fold(x, b.env)
				v.cells[r*width+i] = x
				t = x.Type()
			}
			if r > 0 && t.Equal(last[i]) {
				continue
			}
			last[i] = t
			if r == 0 || !t.Equal(v.types[i]) {
				sources[i] = append(sources[i], cell{e.Span(), t})
			}
			if r == 0 {
				v.types[i] = t
				continue
			}
			common, ok := types.CommonType(v.types[i], t)
			if !ok {
				return nil, withHint(errAt(e.Span(), "Values passed to VALUES operator must have compatible types"),
					"column %d is %s here and %s before", i+1, t.AsNullable(), v.types[i].AsNullable())
			}
			v.types[i] = common
		}
	}
	out, err := v.bind(b, q.Span())
	if err == nil && len(q.Rows) > 1 {
		for i := range out.Columns {
			out.Columns[i].cells = sources[i]
		}
	}
	return out, err
}

// plainLiteral unwraps a literal and its minus sign.
func plainLiteral(e sqlparse.Expr) (l *sqlparse.Literal, negative, ok bool) {
	if l, ok := e.(*sqlparse.Literal); ok {
		return l, false, true
	}
	if u, isUnary := e.(*sqlparse.Unary); isUnary && u.Op == sqlparse.OpMinus {
		if l, ok := u.X.(*sqlparse.Literal); ok && (l.Kind == sqlparse.NumberLiteral || l.Kind == sqlparse.ApproxLiteral) {
			return l, true, true
		}
	}
	return nil, false, false
}

type valuesBinder struct {
	rows  []sqlparse.ValuesRow
	types []types.Type      // of the columns
	cells map[int]expr.Expr // those that are no plain literals, by row*width+column
	open  [][]openCell      // by column: those that are not constant
}

// openCell is a cell to compute when the job runs.
type openCell struct {
	row int64
	x   expr.Expr
}

func (v *valuesBinder) bind(b *Binder, at sqlparse.Span) (*Relation, error) {
	width := len(v.types)
	cols := make([]types.Column, width)
	out := &Relation{Columns: make([]Column, width)}
	for i, t := range v.types {
		out.Columns[i] = Column{Name: exprName(i), At: v.rows[0].Items[i].Span(), Null: t.Kind == types.Null}
		if t.Kind == types.Null {
			v.types[i] = types.String()
		}
	}
	v.open = make([][]openCell, width)
	var batches []*column.Batch
	for from := 0; from < len(v.rows); from += column.DefaultRows {
		batch, err := v.batch(b, from, min(from+column.DefaultRows, len(v.rows)))
		if err != nil {
			return nil, err
		}
		batches = append(batches, batch)
	}
	isOpen := false
	for i, t := range v.types {
		if len(v.open[i]) > 0 {
			t = t.AsNullable() // NULL holds the place of an open cell
		}
		for _, b := range batches {
			b.Cols[i].Type = t
		}
		cols[i] = types.Column{Name: out.Columns[i].Name, Type: t}
		isOpen = isOpen || len(v.open[i]) > 0
	}
	if !isOpen {
		out.Node = plan.NewValues(cols, batches)
		return out, nil
	}
	node, err := v.compute(cols, batches, span(at))
	out.Node = node
	return out, err
}

// batch makes the rows from up to to.
func (v *valuesBinder) batch(b *Binder, from, to int) (*column.Batch, error) {
	width := len(v.types)
	batch := column.NewBatch(v.types, to-from)
	for r := from; r < to; r++ {
		for i, e := range v.rows[r].Items {
			vec := batch.Cols[i]
			l, negative, ok := plainLiteral(e)
			if ok && sameFamily(l.Kind, vec.Type) {
				if err := appendLiteral(vec, l, negative); err != nil {
					return nil, err
				}
				continue
			}
			var x expr.Expr
			var err error
			if ok {
				x, err = literal(l, negative)
			} else {
				x = v.cells[r*width+i]
			}
			if err == nil {
				x, err = coerce(x, vec.Type)
			}
			if err != nil {
				return nil, positioned(err)
			}
			if lit, ok := expr.Fold(x, b.env).(*expr.Literal); ok {
				vec.AppendFrom(lit.Value, 0)
				continue
			}
			vec.AppendNull()
			v.open[i] = append(v.open[i], openCell{int64(r), x})
		}
	}
	batch.N = to - from
	return batch, nil
}

// sameFamily reports whether a literal's text can be read as a value of the type directly.
func sameFamily(k sqlparse.LiteralKind, t types.Type) bool {
	switch k {
	case sqlparse.NullLiteral, sqlparse.UnknownLiteral:
		return true
	case sqlparse.BooleanLiteral:
		return t.Kind == types.Boolean
	case sqlparse.NumberLiteral:
		return t.IsNumeric()
	case sqlparse.ApproxLiteral:
		return t.IsFloat()
	case sqlparse.StringLiteral:
		return t.IsString()
	case sqlparse.BinaryLiteral:
		return t.IsBinary()
	case sqlparse.DateLiteral:
		return t.Kind == types.Date
	case sqlparse.TimeLiteral:
		return t.Kind == types.Time
	case sqlparse.TimestampLiteral:
		return t.Kind == types.Timestamp
	}
	return false
}

// compute projects over the constant rows, to which a column with the row's number is added.
func (v *valuesBinder) compute(cols []types.Column, batches []*column.Batch, at expr.Span) (plan.Node, error) {
	number := types.Column{Name: "$row", Type: types.Of(types.BigInt).AsNotNull()}
	next := int64(0)
	for _, b := range batches {
		vec := column.New(number.Type, b.N)
		for i := 0; i < b.N; i++ {
			vec.AppendI64(next)
			next++
		}
		b.Cols = append(b.Cols, vec)
	}
	in := plan.NewValues(append(append([]types.Column(nil), cols...), number), batches)
	exprs, names := plan.Columns(in, len(cols))
	build := callBuilder{at: at}
	for i, open := range v.open {
		if len(open) == 0 {
			continue
		}
		if groups := groupCells(open); len(groups) == 1 && int64(len(open)) == next {
			exprs[i] = open[0].x
			continue
		}
		exprs[i] = openCells(&build, plan.ColumnOf(in, len(cols)), open, exprs[i])
		if build.err != nil {
			return nil, positioned(build.err)
		}
	}
	return plan.NewProject(in, exprs, names), nil
}

// branches is how many different expressions one CASE chooses from by row.
const branches = 4

// openCells is the value of a column with open cells, constant being that of the others:
//
//	CASE WHEN row IN (3, 7) THEN RAND() … ELSE constant END
//
// Many different ones are halved by row until they are few, so that no row is compared with all:
//
//	CASE WHEN row < 1000 THEN … ELSE … END
func openCells(build *callBuilder, row expr.Expr, open []openCell, constant expr.Expr) expr.Expr {
	number := row.Type()
	groups := groupCells(open)
	if len(groups) > branches {
		half := open[len(open)/2:]
		first := expr.NewLiteral(number, half[0].row, build.at)
		return build.call("CASE", build.call("<", row, first),
			openCells(build, row, open[:len(open)/2], constant), openCells(build, row, half, constant))
	}
	var args []expr.Expr
	for _, g := range groups {
		list := []expr.Expr{row}
		for _, cell := range g {
			list = append(list, expr.NewLiteral(number, cell.row, build.at))
		}
		name := "IN"
		if len(list) == 2 {
			name = "="
		}
		args = append(args, build.call(name, list...), g[0].x)
	}
	return build.call("CASE", append(args, constant)...)
}

// groupCells puts equal expressions together, in the order of their first rows. An expression is equal
// but for its place, so that an error names the first.
func groupCells(open []openCell) [][]openCell {
	byText := map[string]int{}
	var groups [][]openCell
	for _, cell := range open {
		text := expr.String(cell.x)
		g, ok := byText[text]
		if ok && expr.Equal(groups[g][0].x, cell.x) && !expr.Fallible(cell.x) {
			groups[g] = append(groups[g], cell)
			continue
		}
		byText[text] = len(groups)
		groups = append(groups, []openCell{cell})
	}
	sort.SliceStable(groups, func(a, b int) bool { return groups[a][0].row < groups[b][0].row })
	return groups
}
