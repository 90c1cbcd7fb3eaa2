package session

import (
	"errors"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/exec"
	"github.com/sluice-sql/sluice/sqlparse"
)

// objectNames returns the names of catalog objects in a statement, in the order of the text, and whether
// each is the name of a table (as opposed to a database or a catalog).
func objectNames(stmt sqlparse.Statement) []objectName {
	var names []objectName
	table := func(n sqlparse.ObjectName) { names = append(names, objectName{parts: n.Parts, level: 2}) }
	database := func(n sqlparse.ObjectName) { names = append(names, objectName{parts: n.Parts, level: 1}) }
	catalog := func(id sqlparse.Ident) { names = append(names, objectName{parts: []sqlparse.Ident{id}}) }
	switch st := stmt.(type) {
	case *sqlparse.CreateCatalog:
		catalog(st.Name)
	case *sqlparse.DropCatalog:
		catalog(st.Name)
	case *sqlparse.UseCatalog:
		catalog(st.Name)
	case *sqlparse.ShowCreateCatalog:
		catalog(st.Name)
	case *sqlparse.AlterCatalog:
		catalog(st.Name)
	case *sqlparse.DescribeCatalog:
		catalog(st.Name)
	case *sqlparse.CreateDatabase:
		database(st.Name)
	case *sqlparse.DropDatabase:
		database(st.Name)
	case *sqlparse.UseDatabase:
		database(st.Name)
	case *sqlparse.AlterDatabase:
		database(st.Name)
	case *sqlparse.DescribeDatabase:
		database(st.Name)
	case *sqlparse.ShowDatabases:
		if st.From != nil {
			catalog(*st.From)
		}
	case *sqlparse.DropTable:
		table(st.Name)
	case *sqlparse.TruncateTable:
		table(st.Name)
	case *sqlparse.Update:
		table(st.Table)
	case *sqlparse.Delete:
		table(st.Table)
	case *sqlparse.Describe:
		table(st.Name)
	case *sqlparse.ShowTables:
		if st.From != nil {
			database(*st.From)
		}
	case *sqlparse.ShowViews:
		if st.From != nil {
			database(*st.From)
		}
	case *sqlparse.ShowFunctions:
		if st.From != nil {
			database(*st.From)
		}
	case *sqlparse.ShowCreateTable:
		table(st.Name)
	case *sqlparse.ShowCreateView:
		table(st.Name)
	case *sqlparse.ShowColumns:
		table(st.Table)
	case *sqlparse.ShowPartitions:
		table(st.Table)
	case *sqlparse.CreateView:
		table(st.Name)
	case *sqlparse.AlterView:
		table(st.Name)
	case *sqlparse.DropView:
		table(st.Name)
	case *sqlparse.AlterTable:
		table(st.Name)
	case *sqlparse.CreateTable:
		table(st.Name)
		if st.Like != nil {
			table(st.Like.Source)
		}
	case *sqlparse.Insert:
		table(st.Table)
	case *sqlparse.Explain:
		return objectNames(st.Statement)
	}
	if stmt != nil {
		sqlparse.Walk(stmt, func(n sqlparse.Node) bool {
			switch n := n.(type) {
			case *sqlparse.Table:
				names = append(names, objectName{parts: n.Name.Parts, level: 2, read: true})
			case *sqlparse.TableQuery:
				names = append(names, objectName{parts: n.Name.Parts, level: 2, read: true})
			}
			return true
		})
	}
	return names
}

// objectName is a name as written; level says what its last part names: 0 a catalog, 1 a database, 2 a table.
type objectName struct {
	parts []sqlparse.Ident
	level int
	read  bool                       // a table of FROM
	id    connector.ObjectIdentifier // completed, of a table that tableOf found
}

func (n *objectName) span() sqlparse.Span {
	return sqlparse.Span{Start: n.parts[0].Span().Start, End: n.parts[len(n.parts)-1].Span().End}
}

// locateName finds the part of the statement that a refusal of the CatalogManager speaks of.
func locateName(stmt sqlparse.Statement, e *catalog.Error) sqlparse.Span {
	level := 0
	switch {
	case e.Part != catalog.AnyPart:
		level = int(e.Part - catalog.CatalogPart)
	case errors.Is(e.Err, catalog.ErrTableNotExist), errors.Is(e.Err, catalog.ErrTableAlreadyExist):
		level = 2
	case errors.Is(e.Err, catalog.ErrDatabaseNotExist), errors.Is(e.Err, catalog.ErrDatabaseAlreadyExist), errors.Is(e.Err, catalog.ErrDatabaseNotEmpty):
		level = 1
	}
	names := objectNames(stmt)
	for _, n := range names {
		if i := len(n.parts) - 1 - n.level + level; i >= 0 && i < len(n.parts) && n.parts[i].Name == e.Name {
			return n.parts[i].Span()
		}
	}
	// The part at fault was not written but filled in from the current catalog and database: the name
	// that was completed with it is the next best place.
	if len(names) > 0 {
		return names[0].span()
	}
	return noPlace
}

// tableOf finds the table of the statement that a job could not write, or read, or nil.
func (s *Session) tableOf(stmt sqlparse.Statement, e *exec.Error) *objectName {
	for _, n := range objectNames(stmt) {
		if n.level != 2 {
			continue
		}
		n.id = s.identify(sqlparse.ObjectName{Parts: n.parts})
		if n.read && e.Table == "" && e.Doing == "read table "+n.id.String() ||
			!n.read && e.Table == n.id.String() {
			return &n
		}
	}
	return nil
}

// locateOperator finds the clause whose operator ran out of memory, where there is only one that it can
// be; else the statement's first word.
func locateOperator(x *execution, e *exec.Error) sqlparse.Span {
	if x.stmt == nil {
		return noPlace
	}
	first := sqlparse.Span{Start: x.stmt.Span().Start, End: x.stmt.Span().Start}
	for first.End < len(x.text.SQL) && isWord(rune(x.text.SQL[first.End])) {
		first.End++
	}
	var found []sqlparse.Span
	sqlparse.Walk(x.stmt, func(n sqlparse.Node) bool {
		switch n := n.(type) {
		case *sqlparse.QueryExpr:
			if len(n.OrderBy) > 0 && e.Operator == exec.OperatorSort {
				found = append(found, sqlparse.Span{Start: n.OrderBy[0].Span().Start, End: n.OrderBy[len(n.OrderBy)-1].Span().End})
			}
		case *sqlparse.Join:
			if e.Operator == exec.OperatorJoin {
				found = append(found, n.Right.Span())
			}
		case *sqlparse.Select:
			if e.Operator != exec.OperatorAggregate {
				break
			}
			if n.GroupBy != nil {
				found = append(found, n.GroupBy.Span())
			}
			if n.Distinct {
				found = append(found, sqlparse.Span{Start: n.Span().Start, End: n.Items[len(n.Items)-1].Span().End})
			}
		case *sqlparse.SetOp:
			if !n.All && e.Operator == exec.OperatorAggregate {
				found = append(found, n.Right.Span())
			}
		case *sqlparse.Call:
			if n.Distinct && e.Operator == exec.OperatorAggregate {
				found = append(found, n.Span())
			}
		}
		return true
	})
	if len(found) != 1 {
		return first
	}
	return found[0]
}

// locateSubject finds what a statement that runs no job is about; a job's errors know their own place.
func locateSubject(stmt sqlparse.Statement) sqlparse.Span {
	switch stmt.(type) {
	case *sqlparse.QueryStatement, *sqlparse.Insert, *sqlparse.Update, *sqlparse.Delete, *sqlparse.Explain, nil:
		return noPlace
	}
	names := objectNames(stmt)
	if len(names) == 0 {
		return noPlace
	}
	return names[0].span()
}

// locateColumn finds a column's definition, or its name in a column list, in a CREATE TABLE or INSERT;
// else the target's name.
func locateColumn(stmt sqlparse.Statement, name string) sqlparse.Span {
	if ex, ok := stmt.(*sqlparse.Explain); ok {
		stmt = ex.Statement
	}
	switch st := stmt.(type) {
	case *sqlparse.CreateTable:
		for _, c := range st.Columns {
			if c.Name.Name == name {
				if c.Type != nil {
					return sqlparse.Span{Start: c.Name.Span().Start, End: c.Type.Span().End}
				}
				return c.Name.Span()
			}
		}
		for _, id := range st.ColumnNames {
			if id.Name == name {
				return id.Span()
			}
		}
		if sel, ok := unwrapQuery(st.As).(*sqlparse.Select); ok {
			for _, item := range sel.Items {
				if item.Alias != nil && item.Alias.Name == name {
					return item.Alias.Span()
				}
				if c, ok := item.Expr.(*sqlparse.ColumnRef); ok && item.Alias == nil && c.Parts[len(c.Parts)-1].Name == name {
					return c.Span()
				}
			}
		}
		return st.Name.Span()
	case *sqlparse.AlterTable:
		for _, action := range st.Actions {
			var columns []sqlparse.AlterColumn
			switch a := action.(type) {
			case *sqlparse.AddColumns:
				columns = a.Columns
			case *sqlparse.ModifyColumns:
				columns = a.Columns
			}
			for _, c := range columns {
				if c.Name.Name == name {
					return c.Span()
				}
			}
		}
		return st.Name.Span()
	case *sqlparse.CreateView:
		for _, id := range st.Columns {
			if id.Name == name {
				return id.Span()
			}
		}
		return st.Name.Span()
	case *sqlparse.Insert:
		for _, id := range st.Columns {
			if id.Name == name {
				return id.Span()
			}
		}
		return st.Table.Span()
	case *sqlparse.Update:
		for _, a := range st.Set {
			if a.Column.Name == name {
				return a.Span()
			}
		}
		return st.Table.Span()
	}
	return noPlace
}

// unwrapQuery takes WITH, ORDER BY and LIMIT off a query.
func unwrapQuery(q sqlparse.Query) sqlparse.Query {
	for {
		e, ok := q.(*sqlparse.QueryExpr)
		if !ok {
			return q
		}
		q = e.Body
	}
}

// locateOption finds an option's key or value, whichever is at fault, in the statement's WITH clause; a
// missing one is the clause's fault.
func locateOption(stmt sqlparse.Statement, e *connector.OptionError) sqlparse.Span {
	if ex, ok := stmt.(*sqlparse.Explain); ok {
		stmt = ex.Statement
	}
	opts := optionsOf(stmt)
	if opts == nil {
		return noPlace
	}
	for i := len(opts.Items) - 1; i >= 0; i-- {
		if o := opts.Items[i]; e.Key != "" && o.Key.Text == e.Key {
			if e.KeyAtFault {
				return o.Key.Span()
			}
			return o.Value.Span()
		}
	}
	return opts.Span()
}

// optionsOf returns a statement's WITH or SET clause, or nil.
func optionsOf(stmt sqlparse.Statement) *sqlparse.Options {
	switch st := stmt.(type) {
	case *sqlparse.CreateCatalog:
		return st.Options
	case *sqlparse.CreateDatabase:
		return st.Options
	case *sqlparse.CreateTable:
		return st.Options
	case *sqlparse.AlterCatalog:
		return st.Set
	case *sqlparse.AlterDatabase:
		return st.Options
	case *sqlparse.AlterTable:
		for _, action := range st.Actions {
			if set, ok := action.(*sqlparse.SetOptions); ok {
				return set.Options
			}
		}
	}
	return nil
}
