package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// selectItem is one column of the select list, * expanded.
type selectItem struct {
	expr expr.Expr
	name string
	at   sqlparse.Span
	// star says that * stands for the item; table is the table it is of, if that has a name.
	star  bool
	table string
	// alias says that ORDER BY may mean the item by its name: AS was written, or it is a column.
	alias bool
}

// selectQuery binds SELECT … with the ORDER BY around it: FROM, WHERE, grouping, HAVING, the select list,
// DISTINCT, ORDER BY.
func (b *Binder) selectQuery(s *sqlparse.Select, order []sqlparse.OrderItem, parent *scope) (*Relation, error) {
	if err := refuseClauses(s); err != nil {
		return nil, err
	}
	var in plan.Node = plan.OneRow()
	sc := &scope{parent: parent}
	var err error
	if s.From != nil {
		if in, sc, err = b.from(s.From, parent); err != nil {
			return nil, err
		}
	}
	if s.Where != nil {
		if in, err = b.where(in, sc, s.Where); err != nil {
			return nil, err
		}
	}

	// Everything behind WHERE is bound over the input; then it is known whether rows are grouped.
	var waiting []attachment
	later := func(a attachment) (expr.Expr, error) {
		waiting = append(waiting, a)
		return &expr.Column{Index: subqueryBase + len(waiting) - 1, Name: "subquery", T: a.typ, At: a.at}, nil
	}
	now := func(a attachment) (expr.Expr, error) { return attached(&in, a) }
	aggs := &aggregates{attach: now}
	c := &exprCtx{b: b, scope: sc, aggs: aggs, attach: later}
	items, err := c.selectItems(s.Items)
	if err != nil {
		return nil, err
	}
	var keys []expr.Expr
	if s.GroupBy != nil {
		g := &exprCtx{b: b, scope: sc, clause: "GROUP BY clause", attach: now}
		if keys, err = g.groupKeys(s.GroupBy, items); err != nil {
			return nil, err
		}
	}
	var having expr.Expr
	if s.Having != nil {
		if having, err = c.condition(s.Having, "HAVING"); err != nil {
			return nil, c.havingAlias(err, items)
		}
	}
	b.noOrder(order)
	c.aliases = newAliases(items)
	sorts, err := c.sortKeys(order, items)
	if err != nil {
		return nil, err
	}

	r := &resolver{}
	if s.GroupBy != nil || s.Having != nil || len(aggs.calls) > 0 {
		in = group(in, keys, aggs)
		r.grouped, r.keys, r.node = true, keys, in
	}
	if in, err = r.join(in, waiting); err != nil {
		return nil, positioned(err)
	}
	if having != nil {
		if having, err = r.resolve(having); err != nil {
			return nil, positioned(err)
		}
		in = plan.NewFilter(in, having)
	}
	out := &Relation{}
	exprs, names := make([]expr.Expr, len(items)), make([]string, len(items))
	for i, it := range items {
		if exprs[i], err = r.resolve(it.expr); err != nil {
			return nil, positioned(err)
		}
		names[i] = it.name
		out.Columns = append(out.Columns, Column{Name: it.name, At: it.at, Null: isBareNull(exprs[i]), star: it.star, table: it.table})
	}
	for i := range sorts {
		if sorts[i].Expr, err = r.resolve(sorts[i].Expr); err != nil {
			return nil, positioned(err)
		}
	}
	out.Node, err = b.output(in, exprs, names, s.Distinct, sorts, order)
	return out, err
}

func refuseClauses(s *sqlparse.Select) error {
	if err := refuseHints(s.Hints); err != nil {
		return err
	}
	if len(s.Windows) > 0 {
		return withHint(notYet(s.Windows[0].Span(), "WINDOW"), overHint)
	}
	if s.Qualify != nil {
		return withHint(notYet(s.Qualify.Span(), "QUALIFY"), overHint)
	}
	return nil
}

// where filters by a condition. Its conjuncts are bound in order, so that an IN whose left side may fail
// meets only the rows that the conjuncts before it let through.
func (b *Binder) where(in plan.Node, sc *scope, e sqlparse.Expr) (plan.Node, error) {
	var done []expr.Expr
	flush := func() {
		if len(done) > 0 {
			in = plan.NewFilter(in, plan.And(done))
			done = nil
		}
	}
	c := &exprCtx{b: b, scope: sc, clause: "WHERE clause"}
	c.attach = func(a attachment) (expr.Expr, error) {
		if a.operand != nil && expr.Fallible(a.operand) {
			flush()
		}
		return attached(&in, a)
	}
	for _, part := range sqlparse.Operands(e, sqlparse.OpAnd) {
		c.truth = true
		x, err := c.condition(part, "WHERE")
		if err != nil {
			return nil, err
		}
		done = append(done, x)
	}
	flush()
	return in, nil
}

// selectItems binds the select list.
func (c *exprCtx) selectItems(list []sqlparse.SelectItem) ([]selectItem, error) {
	var items []selectItem
	for i := range list {
		it := &list[i]
		if star, ok := it.Expr.(*sqlparse.Star); ok {
			expanded, err := c.star(star)
			if err != nil {
				return nil, err
			}
			if err := c.b.rewrites.star(it, star, c.scope); err != nil {
				return nil, err
			}
			items = append(items, expanded...)
			continue
		}
		x, err := c.expr(it.Expr)
		if err != nil {
			return nil, err
		}
		item := selectItem{expr: x, name: exprName(len(items)), at: it.Expr.Span()}
		if ref, ok := it.Expr.(*sqlparse.ColumnRef); ok {
			item.name, item.alias = ref.Parts[len(ref.Parts)-1].Name, true
		}
		if it.Alias != nil {
			item.name, item.alias = it.Alias.Name, true
		}
		items = append(items, item)
	}
	return items, nil
}

// star expands * or t.*.
func (c *exprCtx) star(e *sqlparse.Star) ([]selectItem, error) {
	s := c.scope
	found, err := s.starColumns(e)
	if err != nil {
		return nil, err
	}
	items := make([]selectItem, len(found))
	for k, i := range found {
		col := s.cols[i]
		items[k] = selectItem{expr: s.ref(i, e.Span()), name: col.name, at: e.Span(), star: true}
		if col.table >= 0 && len(s.tables[col.table].path) > 0 {
			items[k].table = s.tables[col.table].name()
		}
	}
	return items, nil
}

// starColumns returns the columns that * or t.* stands for.
func (s *scope) starColumns(e *sqlparse.Star) ([]int, error) {
	if e.X != nil {
		return nil, notYet(e.Span(), "The fields of a ROW")
	}
	if len(s.tables) == 0 {
		return nil, errAt(e.Span(), "SELECT * requires a FROM clause")
	}
	tables := map[int]bool{}
	if e.Qualifier != nil {
		found := s.tablesOf(e.Qualifier)
		if len(found) == 0 {
			return nil, s.tableNotFound(e.Qualifier)
		}
		for _, t := range found {
			tables[t] = true
		}
	}
	var columns []int
	for i, col := range s.cols {
		if e.Qualifier == nil && !col.merged || e.Qualifier != nil && tables[col.table] {
			columns = append(columns, i)
		}
	}
	return columns, nil
}

// group groups in by keys.
func group(in plan.Node, keys []expr.Expr, aggs *aggregates) plan.Node {
	names := make([]string, 0, len(keys)+len(aggs.calls))
	for _, k := range keys {
		names = append(names, nameOf(k))
	}
	return plan.NewAggregate(in, keys, aggs.calls, append(names, aggs.names...))
}

// output projects, makes distinct and sorts.
func (b *Binder) output(in plan.Node, exprs []expr.Expr, names []string, distinct bool, sorts []plan.SortKey, order []sqlparse.OrderItem) (plan.Node, error) {
	visible := len(exprs)
	for i := range sorts {
		at := -1
		for k, e := range exprs {
			if expr.Equal(e, sorts[i].Expr) && (k < visible || !expr.Volatile(e)) {
				at = k
				break
			}
		}
		if at < 0 {
			if distinct {
				return nil, withHint(errAt(order[i].Expr.Span(), "Expression '%s' is not in the select clause", expr.String(sorts[i].Expr)),
					"with SELECT DISTINCT only its columns can be sorted by")
			}
			at = len(exprs)
			exprs = append(exprs, sorts[i].Expr)
			names = append(names, nameOf(sorts[i].Expr))
		}
		sorts[i].Expr = expr.Expr(&expr.Column{Index: at, Name: names[at], T: typed(exprs[at]).Type(), At: sorts[i].Expr.Span()})
	}
	var node plan.Node = project(in, exprs, names)
	if distinct {
		node = plan.NewDistinct(node)
	}
	if len(sorts) > 0 {
		node = plan.NewSort(node, sorts, -1, 0)
	}
	if len(exprs) > visible {
		es, ns := plan.Columns(node, visible)
		node = plan.NewProject(node, es, ns)
	}
	return node, nil
}

// nameOf names a column that the user gave no name.
func nameOf(e expr.Expr) string {
	if c, ok := e.(*expr.Column); ok {
		return c.Name
	}
	return expr.String(e)
}
