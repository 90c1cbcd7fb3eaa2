package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// join binds left JOIN right.
func (b *Binder) join(j *sqlparse.Join, parent *scope) (plan.Node, *scope, error) {
	left, ls, err := b.from(j.Left, parent)
	if err != nil {
		return nil, nil, err
	}
	if u, ok := j.Right.(*sqlparse.Unnest); ok {
		return b.unnestJoin(j, u, left, ls, parent)
	}
	right, rs, err := b.from(j.Right, parent)
	if err != nil {
		return nil, nil, err
	}
	b.noStream(j.Right.Span(), "JOIN")
	kind := map[sqlparse.JoinKind]job.JoinKind{sqlparse.LeftJoin: job.Left, sqlparse.RightJoin: job.Right, sqlparse.FullJoin: job.Full}[j.Kind]
	if kind == "" {
		kind = job.Inner
	}
	s, err := joinScopes(ls, rs, plan.Width(left), parent)
	if err != nil {
		return nil, nil, err
	}
	var shared []sharedColumn
	var conditions []expr.Expr
	switch {
	case j.On != nil:
		c := &exprCtx{b: b, scope: s, clause: "ON clause"}
		on, err := c.condition(j.On, "ON")
		if err != nil {
			return nil, nil, err
		}
		conditions = plan.Conjuncts(on)
	case j.Using != nil || j.Natural:
		if shared, err = sharedColumns(j, ls, rs); err != nil {
			return nil, nil, err
		}
		b.rewrites.natural(j, shared)
		for _, c := range shared {
			l, r := ls.ref(c.left, c.at), rs.ref(c.right, c.at)
			if col, ok := r.(*expr.Column); ok {
				col.Index += plan.Width(left)
			}
			eq, err := expr.NewCall("=", []expr.Expr{l, r}, span(c.at))
			if err != nil {
				return nil, nil, positioned(err)
			}
			conditions = append(conditions, eq)
		}
	}
	node := joinOn(kind, left, right, conditions)
	s.retype(node)
	if shared != nil {
		return s.merge(node, kind, shared, len(ls.cols))
	}
	return node, s, nil
}

// joinOn joins two nodes: equalities between the sides become keys, the other conditions the residual.
// Keys are evaluated for all rows of a side, the residual for pairs with equal keys. So one that can fail
// is a key only as the first condition: the ones before it keep it from rows it must not meet.
func joinOn(kind job.JoinKind, left, right plan.Node, conditions []expr.Expr) *plan.Join {
	width := plan.Width(left)
	var lk, rk, rest []expr.Expr
	for i, c := range conditions {
		if l, r, ok := plan.Equality(c, width); ok && (i == 0 || !expr.Fallible(c)) {
			lk, rk = append(lk, l), append(rk, r)
		} else {
			rest = append(rest, c)
		}
	}
	return plan.NewJoin(kind, left, right, lk, rk, plan.And(rest))
}

// joinScopes is the scope of both sides, the right's columns behind the left's.
func joinScopes(l, r *scope, width int, parent *scope) (*scope, error) {
	s := &scope{parent: parent}
	s.tables = append(append(s.tables, l.tables...), r.tables...)
	for _, t := range r.tables {
		for _, u := range l.tables {
			if len(t.path) > 0 && len(u.path) > 0 && t.name() == u.name() && (len(t.path) == 1 || len(u.path) == 1 || samePath(t.path, u.path)) {
				return nil, withHint(errAt(t.at, "Duplicate relation name '%s' in FROM clause", t.name()), "give one of the two another alias")
			}
		}
	}
	s.cols = append(s.cols, l.cols...)
	for _, c := range r.cols {
		c.index += width
		if c.table >= 0 {
			c.table += len(l.tables)
		}
		s.cols = append(s.cols, c)
	}
	return s, nil
}

func samePath(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// retype takes the columns' types, whose nullability an outer join changes, from the node.
func (s *scope) retype(n plan.Node) {
	cols := n.Schema().Columns
	for i := range s.cols {
		s.cols[i].typ = cols[s.cols[i].index].Type
	}
}

// sharedColumn is a pair of columns of USING or NATURAL, by position in their scopes.
type sharedColumn struct {
	name        string
	left, right int
	at          sqlparse.Span
}

func sharedColumns(j *sqlparse.Join, l, r *scope) ([]sharedColumn, error) {
	shared := []sharedColumn{}
	add := func(name sqlparse.Ident) error {
		c := sharedColumn{name: name.Name, at: name.Span()}
		for _, side := range []struct {
			s   *scope
			pos *int
		}{{l, &c.left}, {r, &c.right}} {
			found := side.s.find(name.Name)
			switch len(found) {
			case 0:
				e := errAt(name.Span(), "Column '%s' not found in any table", name.Name)
				e.Hint = didYouMean(name.Name, side.s.names(-1))
				return e
			case 1:
				*side.pos = found[0]
			default:
				return side.s.ambiguous(name, found)
			}
		}
		shared = append(shared, c)
		return nil
	}
	if !j.Natural {
		for i, name := range j.Using {
			for _, other := range j.Using[:i] {
				if other.Name == name.Name {
					return nil, errAt(name.Span(), "Duplicate name '%s' in USING", name.Name)
				}
			}
			if err := add(name); err != nil {
				return nil, err
			}
		}
		return shared, nil
	}
	seen := map[string]bool{}
	for _, c := range l.cols {
		if !c.merged && !seen[c.name] && len(r.find(c.name)) > 0 {
			seen[c.name] = true
			if err := add(sqlparse.Ident{Pos: sqlparse.At(j.Right.Span()), Name: c.name}); err != nil {
				return nil, err
			}
		}
	}
	return shared, nil
}

// merge makes one column of each shared pair: the left's, or the right's in a right join, or whichever is
// there in a full one. They come first in SELECT *.
func (s *scope) merge(node plan.Node, kind job.JoinKind, shared []sharedColumn, leftCols int) (plan.Node, *scope, error) {
	var first []scopeCol
	exprs, names := plan.Columns(node, plan.Width(node))
	for _, c := range shared {
		l, r := &s.cols[c.left], &s.cols[leftCols+c.right]
		m := scopeCol{name: c.name, table: -1, index: l.index, typ: l.typ, null: l.null && r.null}
		switch kind {
		case job.Right:
			m.index, m.typ = r.index, r.typ
		case job.Full:
			e, err := expr.NewCall("COALESCE", []expr.Expr{plan.ColumnOf(node, l.index), plan.ColumnOf(node, r.index)}, span(c.at))
			if err != nil {
				return nil, nil, positioned(err)
			}
			m.index, m.typ = len(exprs), e.Type()
			exprs, names = append(exprs, e), append(names, c.name)
		}
		l.merged, r.merged = true, true
		first = append(first, m)
	}
	s.cols = append(first, s.cols...)
	s.byName = nil
	if kind == job.Full && len(shared) > 0 {
		node = plan.NewProject(node, exprs, names)
	}
	return node, s, nil
}
