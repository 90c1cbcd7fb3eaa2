package bind

import (
	"strconv"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// query binds any query. parent is the scope of the query that it is a subquery of, or nil.
func (b *Binder) query(q sqlparse.Query, parent *scope) (*Relation, error) {
	if err := b.ctx.Err(); err != nil {
		return nil, err
	}
	switch q := q.(type) {
	case *sqlparse.QueryExpr:
		return b.queryExpr(q, parent)
	case *sqlparse.Select:
		return b.selectQuery(q, nil, parent)
	case *sqlparse.SetOp:
		return b.setOp(q, parent)
	case *sqlparse.Values:
		return b.values(q, parent)
	case *sqlparse.TableQuery:
		node, s, err := b.tableByName(&q.Name, nil, parent)
		if err != nil {
			return nil, err
		}
		r := &Relation{Node: node}
		for _, c := range s.cols {
			r.Columns = append(r.Columns, Column{Name: c.name, At: q.Span(), Null: c.null})
		}
		return r, nil
	}
	return nil, notYet(q.Span(), "this kind of query")
}

// queryExpr binds WITH … body ORDER BY … OFFSET … LIMIT ….
func (b *Binder) queryExpr(q *sqlparse.QueryExpr, parent *scope) (*Relation, error) {
	outer := b.with
	defer func() { b.with = outer }()
	for i := range q.With {
		c := &q.With[i]
		for j := range q.With[:i] {
			if q.With[j].Name.Name == c.Name.Name {
				return nil, errAt(c.Name.Span(), "Duplicate name '%s' in WITH clause", c.Name.Name)
			}
		}
		b.with = &commonTable{def: c, outer: b.with, parent: parent}
	}
	var r *Relation
	var err error
	if s, ok := q.Body.(*sqlparse.Select); ok {
		r, err = b.selectQuery(s, q.OrderBy, parent)
	} else {
		if r, err = b.query(q.Body, parent); err == nil && len(q.OrderBy) > 0 {
			err = b.orderOutput(r, q.OrderBy, parent)
		}
	}
	if err == nil {
		err = b.bindUnused(outer)
	}
	if err != nil {
		return nil, err
	}
	count, err := rowCount(q.Limit, -1, "LIMIT")
	if err != nil {
		return nil, err
	}
	offset, err := rowCount(q.Offset, 0, "OFFSET")
	if err != nil {
		return nil, err
	}
	if count >= 0 || offset > 0 {
		if plan.Updates(r.Node) {
			at, what := q.Limit, "LIMIT"
			if at == nil {
				at, what = q.Offset, "OFFSET"
			}
			b.noStream(at.Span(), what+" over rows that are updated")
		}
		r.Node = plan.NewLimit(r.Node, count, offset)
	}
	return r, nil
}

func rowCount(l *sqlparse.Literal, absent int64, clause string) (int64, error) {
	if l == nil {
		return absent, nil
	}
	n, err := strconv.ParseInt(l.Text, 10, 64)
	if err != nil || n < 0 {
		return 0, errAt(l.Span(), "%s takes a number of rows between 0 and 9223372036854775807, not %s", clause, l.Text)
	}
	return n, nil
}

// commonTable is a query of a WITH clause and those that its text can see.
type commonTable struct {
	def    *sqlparse.CommonTable
	outer  *commonTable
	parent *scope
	used   bool
}

func (c *commonTable) find(name string) *commonTable {
	for ; c != nil; c = c.outer {
		if c.def.Name.Name == name {
			return c
		}
	}
	return nil
}

// maxUses bounds how often WITH queries are planned in one statement: each use is planned again, so that
// queries which use each other twice grow as powers of two.
const maxUses = 10_000

// use plans a WITH query once more.
func (b *Binder) use(c *commonTable, at sqlparse.Span) (*Relation, error) {
	if b.uses++; b.uses > maxUses {
		return nil, withHint(errAt(at, "The queries of WITH are used more than %d times in this statement", maxUses), "write the result of one into a table first")
	}
	c.used = true
	saved := b.with
	b.with = c.outer
	defer func() { b.with = saved }()
	r, err := b.query(c.def.Query, c.parent)
	if err != nil {
		return nil, err
	}
	return r, renameColumns(r, c.def.Columns)
}

// bindUnused binds the queries of a WITH clause that nothing uses, so that their faults are found, and
// throws them away. The clause is the innermost one; outer is what was visible around it.
func (b *Binder) bindUnused(outer *commonTable) error {
	for c := b.with; c != outer; c = c.outer {
		if c.used {
			continue
		}
		if _, err := b.use(c, c.def.Name.Span()); err != nil {
			return err
		}
	}
	return nil
}

// renameColumns applies a list of column aliases.
func renameColumns(r *Relation, names []sqlparse.Ident) error {
	if names == nil {
		return nil
	}
	if len(names) != len(r.Columns) {
		have := ""
		for i, c := range r.Columns {
			if i > 0 {
				have += ", "
			}
			have += connector.QuoteName(c.Name)
		}
		at := sqlparse.Span{Start: names[0].Span().Start, End: names[len(names)-1].Span().End}
		return errAt(at, "List of column aliases must have same degree as table; table has %s (%s), whereas alias list has %s", count(len(r.Columns), "column"), have, count(len(names), "column"))
	}
	cols := make([]Column, len(names))
	for i, n := range names {
		for _, m := range names[:i] {
			if m.Name == n.Name {
				return errAt(n.Span(), "Duplicate name '%s' in column alias list", n.Name)
			}
		}
		cols[i] = Column{Name: n.Name, At: r.Columns[i].At, Null: r.Columns[i].Null}
	}
	r.Columns = cols
	return nil
}
