package bind

import (
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// scope is what the names in the expressions of one query block can mean: the columns of its FROM.
type scope struct {
	parent *scope // the enclosing query's; only to say what a correlated name is
	tables []scopeTable
	cols   []scopeCol
	byName map[string][]int // visible columns; made at first use
}

// scopeTable is one relation of FROM.
type scopeTable struct {
	path []string // an alias alone, or catalog, database and table; nil: cannot be named
	// hidden is the path that an alias took the place of.
	hidden []string
	at     sqlparse.Span
}

// scopeCol is one column that can be named.
type scopeCol struct {
	name  string
	table int // in tables; -1 for a column merged by USING or NATURAL
	index int // column of the plan's node
	typ   types.Type
	// merged says that USING or NATURAL made one column of this and another; alone it is found only
	// with its table's name.
	merged bool
	null   bool // a bare NULL of a derived table
}

// newScope is the scope of one relation.
func newScope(n plan.Node, table scopeTable, names []string, null func(int) bool, parent *scope) *scope {
	s := &scope{parent: parent, tables: []scopeTable{table}}
	for i, c := range n.Schema().Columns {
		s.cols = append(s.cols, scopeCol{name: names[i], index: i, typ: c.Type, null: null != nil && null(i)})
	}
	return s
}

func (s *scope) find(name string) []int {
	if s.byName == nil {
		s.byName = make(map[string][]int, len(s.cols))
		for i, c := range s.cols {
			if !c.merged {
				s.byName[c.name] = append(s.byName[c.name], i)
			}
		}
	}
	return s.byName[name]
}

// matches reports whether a qualifier names the table: its alias, or the end of its path.
func (t scopeTable) matches(qualifier []sqlparse.Ident) bool {
	if len(t.path) < len(qualifier) {
		return false
	}
	tail := t.path[len(t.path)-len(qualifier):]
	for i, q := range qualifier {
		if tail[i] != q.Name {
			return false
		}
	}
	return true
}

func (t scopeTable) name() string {
	if len(t.path) == 0 {
		return "a subquery without a name"
	}
	return t.path[len(t.path)-1]
}

// tablesOf returns the tables that a qualifier names.
func (s *scope) tablesOf(qualifier []sqlparse.Ident) []int {
	var found []int
	for i, t := range s.tables {
		if t.matches(qualifier) {
			found = append(found, i)
		}
	}
	return found
}

// ref is the reference to a column of the scope.
func (s *scope) ref(i int, at sqlparse.Span) expr.Expr {
	c := s.cols[i]
	if c.null {
		return expr.NewLiteral(types.Of(types.Null), nil, span(at))
	}
	return &expr.Column{Index: c.index, Name: c.name, T: c.typ, At: span(at)}
}

// resolve finds the column that a name means.
func (s *scope) resolve(ref *sqlparse.ColumnRef) (expr.Expr, error) {
	last := ref.Parts[len(ref.Parts)-1]
	found := s.lookup(ref)
	switch {
	case len(found) == 1:
		return s.ref(found[0], ref.Span()), nil
	case len(found) > 1:
		return nil, s.ambiguous(last, found)
	}
	if x, err := s.resolveField(ref); x != nil || err != nil {
		return x, err
	}
	for p := s.parent; p != nil; p = p.parent {
		if len(p.lookup(ref)) > 0 {
			return nil, withHint(errAt(ref.Span(), "Correlated subqueries are not supported yet: column '%s' belongs to the enclosing query", pathText(ref.Parts)),
				"write the subquery as a join")
		}
	}
	return nil, s.notFound(ref)
}

// resolveField finds the field of a ROW that a name means: the longest beginning of the name that is a
// column's, then fields. It returns nil when no beginning is.
func (s *scope) resolveField(ref *sqlparse.ColumnRef) (expr.Expr, error) {
	for n := len(ref.Parts) - 1; n > 0; n-- {
		found := s.lookupParts(ref.Parts[:n])
		if len(found) == 0 {
			continue
		}
		last := ref.Parts[n-1]
		if len(found) > 1 {
			return nil, s.ambiguous(last, found)
		}
		at := sqlparse.Span{Start: ref.Parts[0].Span().Start, End: last.Span().End}
		x := s.ref(found[0], at)
		for _, name := range ref.Parts[n:] {
			at.End = name.Span().End
			var err error
			if x, err = fieldOf(x, name, at); err != nil {
				return nil, err
			}
		}
		return x, nil
	}
	return nil, nil
}

// lookup returns the columns that a name may mean.
func (s *scope) lookup(ref *sqlparse.ColumnRef) []int { return s.lookupParts(ref.Parts) }

func (s *scope) lookupParts(parts []sqlparse.Ident) []int {
	last := parts[len(parts)-1]
	if len(parts) == 1 {
		return s.find(last.Name)
	}
	tables := s.tablesOf(parts[:len(parts)-1])
	var found []int
	for _, t := range tables {
		for i, c := range s.cols {
			if c.table == t && c.name == last.Name {
				found = append(found, i)
			}
		}
	}
	return found
}

func (s *scope) ambiguous(name sqlparse.Ident, found []int) error {
	var where []string
	for _, i := range found {
		if t := s.cols[i].table; t >= 0 && len(s.tables[t].path) > 0 {
			where = append(where, connector.QuoteName(s.tables[t].name())+"."+connector.QuoteName(name.Name))
		}
	}
	e := errAt(name.Span(), "Column '%s' is ambiguous", name.Name)
	if len(where) == len(found) && where[0] != where[len(where)-1] {
		e.Hint = "write " + strings.Join(where, " or ")
	} else {
		e.Hint = "several columns have this name; give them different aliases"
	}
	return e
}

func (s *scope) notFound(ref *sqlparse.ColumnRef) error {
	last := ref.Parts[len(ref.Parts)-1]
	if len(ref.Parts) == 1 {
		e := errAt(ref.Span(), "Column '%s' not found in any table", last.Name)
		e.Hint = didYouMean(last.Name, s.names(-1))
		if f := strings.ToUpper(last.Name); e.Hint == "" && isCallable(f) {
			e.Hint = "the function is written " + f + "()"
		}
		return e
	}
	qualifier := ref.Parts[:len(ref.Parts)-1]
	tables := s.tablesOf(qualifier)
	if len(tables) == 0 {
		return s.tableNotFound(qualifier)
	}
	e := errAt(last.Span(), "Column '%s' not found in table '%s'", last.Name, pathText(qualifier))
	e.Hint = didYouMean(last.Name, s.names(tables[0]))
	return e
}

// isCallable reports whether a name is that of a function without arguments.
func isCallable(name string) bool {
	f, ok := expr.Lookup(name)
	return ok && f.Min == 0 || name == "CURRENT_DATABASE"
}

func (s *scope) tableNotFound(qualifier []sqlparse.Ident) error {
	var names []string
	for _, t := range s.tables {
		if len(t.path) > 0 {
			names = append(names, t.name())
		}
	}
	at := sqlparse.Span{Start: qualifier[0].Span().Start, End: qualifier[len(qualifier)-1].Span().End}
	e := errAt(at, "Table '%s' not found", pathText(qualifier))
	for _, t := range s.tables {
		if (scopeTable{path: t.hidden}).matches(qualifier) {
			return withHint(e, "its alias in this query is %s, and only that names it", connector.QuoteName(t.name()))
		}
	}
	e.Hint = didYouMean(qualifier[len(qualifier)-1].Name, names)
	return e
}

// names returns the names of the visible columns, or of one table's.
func (s *scope) names(table int) []string {
	var names []string
	for _, c := range s.cols {
		if table < 0 && !c.merged || table >= 0 && c.table == table {
			names = append(names, c.name)
		}
	}
	return names
}

func pathText(parts []sqlparse.Ident) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.Name
	}
	return strings.Join(names, ".")
}
