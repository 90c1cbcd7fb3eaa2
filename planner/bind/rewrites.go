package bind

import (
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// rewrites notes, while the query of a CREATE VIEW is bound, what its text has to say so that it means the
// same later and anywhere: the full names of tables, the tables of columns, and the columns that each * stands for. Its methods do
// nothing on nil.
type rewrites struct {
	names map[*sqlparse.ObjectName]connector.ObjectIdentifier
	stars map[*sqlparse.SelectItem][]sqlparse.SelectItem
	// columns are the qualified names of columns: a bare one would be ambiguous once another table of the
	// query gets a column of that name.
	columns  map[*sqlparse.ColumnRef][]sqlparse.Ident
	naturals map[*sqlparse.Join][]sqlparse.Ident // the shared columns of NATURAL joins
}

func newRewrites() *rewrites {
	return &rewrites{names: map[*sqlparse.ObjectName]connector.ObjectIdentifier{}, stars: map[*sqlparse.SelectItem][]sqlparse.SelectItem{}, columns: map[*sqlparse.ColumnRef][]sqlparse.Ident{}, naturals: map[*sqlparse.Join][]sqlparse.Ident{}}
}

// named notes which table a name means.
func (r *rewrites) named(name *sqlparse.ObjectName, id connector.ObjectIdentifier) {
	if r != nil {
		r.names[name] = id
	}
}

// column notes what a bare name means in a scope.
func (r *rewrites) column(ref *sqlparse.ColumnRef, s *scope) {
	if r == nil || len(ref.Parts) > 1 {
		return
	}
	if found := s.lookup(ref); len(found) == 1 {
		if full, err := s.written(found[0], ref.Span()); err == nil {
			r.columns[ref] = full.Parts
		}
	}
}

// natural notes the columns by which a NATURAL join joins.
func (r *rewrites) natural(j *sqlparse.Join, shared []sharedColumn) {
	if r == nil || !j.Natural {
		return
	}
	for _, c := range shared {
		r.naturals[j] = append(r.naturals[j], sqlparse.Ident{Name: c.name})
	}
}

// star notes the columns of a * in the scope that it stands in.
func (r *rewrites) star(item *sqlparse.SelectItem, e *sqlparse.Star, s *scope) error {
	if r == nil {
		return nil
	}
	found, err := s.starColumns(e)
	if err != nil {
		return err
	}
	items := make([]sqlparse.SelectItem, len(found))
	for k, i := range found {
		ref, err := s.written(i, e.Span())
		if err != nil {
			return err
		}
		items[k] = sqlparse.SelectItem{Expr: ref}
	}
	r.stars[item] = items
	return nil
}

// written returns the shortest qualified name that means the column, and the bare one of a column without
// a table.
func (s *scope) written(i int, at sqlparse.Span) (*sqlparse.ColumnRef, error) {
	col := s.cols[i]
	var path []string
	if col.table >= 0 {
		path = s.tables[col.table].path
	}
	ref := &sqlparse.ColumnRef{}
	for n := min(1, len(path)); n <= len(path); n++ {
		ref.Parts = nil
		for _, p := range append(append([]string(nil), path[len(path)-n:]...), col.name) {
			ref.Parts = append(ref.Parts, sqlparse.Ident{Pos: sqlparse.At(at), Name: p})
		}
		if found := s.lookup(ref); len(found) == 1 && found[0] == i {
			return ref, nil
		}
	}
	return nil, s.ambiguous(ref.Parts[len(ref.Parts)-1], s.lookup(ref))
}

// print prints the query that was bound with all rewrites; the tree is afterwards as it was.
func (r *rewrites) print(q sqlparse.Query) string {
	var undo []func()
	rename := func(name *sqlparse.ObjectName) {
		if id, ok := r.names[name]; ok {
			old := name.Parts
			undo = append(undo, func() { name.Parts = old })
			name.Parts = []sqlparse.Ident{{Name: id.Catalog}, {Name: id.Database}, {Name: id.Object}}
		}
	}
	sqlparse.Walk(q, func(n sqlparse.Node) bool {
		switch n := n.(type) {
		case *sqlparse.Table:
			rename(&n.Name)
		case *sqlparse.TableQuery:
			rename(&n.Name)
		case *sqlparse.Join:
			if using, ok := r.naturals[n]; ok {
				undo = append(undo, func() { n.Natural, n.Using = true, nil })
				n.Natural, n.Using = false, using
			}
		case *sqlparse.ColumnRef:
			if full, ok := r.columns[n]; ok {
				old := n.Parts
				undo = append(undo, func() { n.Parts = old })
				n.Parts = full
			}
		case *sqlparse.Select:
			var items []sqlparse.SelectItem
			expanded := false
			for i := range n.Items {
				star, ok := r.stars[&n.Items[i]]
				if expanded = expanded || ok; ok {
					items = append(items, star...)
				} else {
					items = append(items, n.Items[i])
				}
			}
			if expanded {
				old := n.Items
				undo = append(undo, func() { n.Items = old })
				n.Items = items
			}
		}
		return true
	})
	text := sqlparse.Print(q)
	for i := len(undo) - 1; i >= 0; i-- {
		undo[i]()
	}
	return text
}
