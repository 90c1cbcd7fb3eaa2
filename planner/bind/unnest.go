package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// unnestJoin binds left JOIN UNNEST(…), whose argument may name the columns of the left side.
func (b *Binder) unnestJoin(j *sqlparse.Join, u *sqlparse.Unnest, left plan.Node, ls *scope, parent *scope) (plan.Node, *scope, error) {
	switch {
	case j.Natural || j.Using != nil:
		return nil, nil, withHint(notYet(u.Span(), "NATURAL JOIN and USING with UNNEST"), "write CROSS JOIN UNNEST(…) AS t (x) and a condition in WHERE")
	case j.Kind == sqlparse.RightJoin || j.Kind == sqlparse.FullJoin:
		return nil, nil, withHint(errAt(u.Span(), "UNNEST cannot be the right side of a RIGHT or FULL JOIN"), "write CROSS JOIN UNNEST(…) or LEFT JOIN UNNEST(…) ON TRUE")
	}
	outer := j.Kind == sqlparse.LeftJoin
	if plan.Updates(left) {
		b.noStream(u.Span(), "UNNEST of rows that are updated")
	}
	node, s, err := b.unnest(u, left, ls, outer, parent)
	if err != nil || j.On == nil {
		return node, s, err
	}
	c := &exprCtx{b: b, scope: s, clause: "ON clause"}
	on, err := c.condition(j.On, "ON")
	if err != nil {
		return nil, nil, err
	}
	if l, ok := on.(*expr.Literal); ok && l.Value != nil && l.Value.Bool[0] {
		return node, s, nil
	}
	if outer {
		return nil, nil, withHint(notYet(j.On.Span(), "A condition of LEFT JOIN UNNEST other than ON TRUE"), "write ON TRUE, and the condition in WHERE")
	}
	return plan.NewFilter(node, on), s, nil
}

// unnest binds UNNEST(collection) [WITH ORDINALITY] over the columns of a node.
func (b *Binder) unnest(u *sqlparse.Unnest, left plan.Node, ls *scope, outer bool, parent *scope) (plan.Node, *scope, error) {
	if len(u.Args) != 1 {
		return nil, nil, withHint(notYet(u.Span(), "UNNEST of "+count(len(u.Args), "value")), "UNNEST each by itself, WITH ORDINALITY, and join them by their positions")
	}
	c := &exprCtx{b: b, scope: ls, clause: "UNNEST"}
	arg, err := c.expr(u.Args[0])
	if err != nil {
		return nil, nil, err
	}
	if !arg.Type().IsCollection() {
		return nil, nil, errAt(u.Args[0].Span(), "UNNEST takes an ARRAY, a MAP or a MULTISET, not %s", arg.Type().AsNullable())
	}
	names := unnestedNames(arg.Type())
	if u.Ordinality {
		names = append(names, "ORDINALITY")
	}
	rel := &Relation{}
	for _, name := range names {
		rel.Columns = append(rel.Columns, Column{Name: name, At: u.Span()})
	}
	table := scopeTable{at: u.Span()}
	if u.Alias != nil {
		table = scopeTable{path: []string{u.Alias.Name.Name}, at: u.Alias.Name.Span()}
		if err := renameColumns(rel, u.Alias.Columns); err != nil {
			return nil, nil, err
		}
	}
	columns := make([]int, plan.Width(left))
	for i := range columns {
		columns[i] = i
	}
	for i, c := range rel.Columns {
		names[i] = c.Name
	}
	node := plan.NewUnnest(left, arg, columns, names, outer, u.Ordinality)
	rs := &scope{tables: []scopeTable{table}}
	for i, name := range names {
		rs.cols = append(rs.cols, scopeCol{name: name, index: i, typ: node.Schema().Columns[len(columns)+i].Type})
	}
	s, err := joinScopes(ls, rs, len(columns), parent)
	return node, s, err
}

// unnestedNames returns the names that the columns of an element have without an alias for them.
func unnestedNames(t types.Type) []string {
	if t.Kind == types.Map {
		return []string{"KEY", "VALUE"}
	}
	if t.Element().Kind != types.Row {
		return []string{"EXPR$0"}
	}
	var names []string
	for _, f := range t.Element().Fields {
		names = append(names, f.Name)
	}
	return names
}
