package bind

import (
	"errors"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// CreateView binds CREATE VIEW. The query is bound once; what is kept is its text with all names in full,
// and the names and types of its columns. An existing view is an error unless IF NOT EXISTS is written.
func (b *Binder) CreateView(s *sqlparse.CreateView) (connector.ObjectIdentifier, *catalog.CatalogTable, error) {
	id := b.catalogs.IdentifyPermanent(nameParts(s.Name))
	id.Temporary = s.Temporary
	if err := CheckName(s.Name.Last(), "view"); err != nil {
		return id, nil, err
	}
	if err := b.checkPlace(id, s.Name); err != nil {
		return id, nil, err
	}
	cat, err := b.newObjectCatalog(id, s.Name)
	if err != nil {
		return id, nil, err
	}
	switch stores := cat.Stores(); {
	case stores&catalog.StoresView == 0:
		return id, nil, unstored(s.Name.Span(), id, "a view")
	case s.Comment != nil && stores&catalog.StoresComment == 0:
		return id, nil, unstored(s.Comment.Span(), id, "a COMMENT")
	}
	if s.Temporary {
		hidden := id
		hidden.Temporary = false
		b.altered = &hidden
	}
	v, err := b.viewOf(id, s.Query, s.Columns)
	if err != nil {
		return id, nil, err
	}
	if s.Comment != nil {
		v.Comment = s.Comment.Text
	}
	if s.IfNotExists {
		return id, v, nil
	}
	return id, v, b.mustBeNew(id, s.Name)
}

// AlterView binds ALTER VIEW … AS, and checks the name of ALTER VIEW … RENAME TO, which leaves the
// definition as it is.
func (b *Binder) AlterView(s *sqlparse.AlterView) (id connector.ObjectIdentifier, old, new *catalog.CatalogTable, err error) {
	id = b.identify(s.Name)
	fail := func(err error) (connector.ObjectIdentifier, *catalog.CatalogTable, *catalog.CatalogTable, error) {
		return id, nil, nil, err
	}
	cat, old, err := b.catalogs.Table(b.ctx, id)
	var e *catalog.Error
	switch {
	case id.Temporary, errors.Is(err, catalog.ErrTableNotExist):
		x := errAt(s.Name.Span(), "View %s doesn't exist or is a temporary view.", id.SQL())
		if errors.As(err, &e) {
			x.Hint = e.Hint
		}
		return fail(x)
	case err != nil:
		return fail(atName(err, s.Name))
	case old.Kind != catalog.KindView:
		return fail(errAt(s.Name.Span(), "ALTER VIEW for a table is not allowed"))
	case s.RenameTo != nil:
		name, err := b.newName(id, *s.RenameTo, "view")
		if err != nil {
			return fail(err)
		}
		renamed := id
		renamed.Object = name
		if old.View != nil && b.names(old.View.Expanded, renamed, 0) {
			return fail(errAt(s.RenameTo.Span(), "View %s would read itself: its query names %s", renamed, renamed))
		}
		return id, old, old, nil
	case old.View == nil || cat.Stores()&catalog.StoresView == 0:
		return fail(withHint(errAt(s.Name.Span(), "View %s is the store's own and cannot be altered here", id), "alter it with the database's own client"))
	}
	b.altered = &id
	if new, err = b.viewOf(id, s.As, nil); err != nil {
		return fail(err)
	}
	new.Comment, new.Options = old.Comment, old.Options
	return id, old, new, nil
}

// names reports whether the text of a view names an object, which need not be there, or a view that does.
func (b *Binder) names(text string, id connector.ObjectIdentifier, depth int) bool {
	q, err := parseQuery(text)
	if err != nil || depth > maxViews {
		return false
	}
	found := false
	sqlparse.Walk(q, func(n sqlparse.Node) bool {
		t, ok := n.(*sqlparse.Table)
		if !ok || found || len(t.Name.Parts) != 3 { // names are in full, but for those of WITH
			return !found
		}
		at := b.identify(t.Name)
		if found = at == id; found {
			return false
		}
		if _, inner, err := b.catalogs.Table(b.ctx, at); err == nil && inner.View != nil {
			found = b.names(inner.View.Expanded, id, depth+1)
		}
		return !found
	})
	return found
}

// viewOf binds the query of a new view.
func (b *Binder) viewOf(id connector.ObjectIdentifier, q sqlparse.Query, columns []sqlparse.Ident) (*catalog.CatalogTable, error) {
	if !id.Temporary {
		b.permanent = "A view"
	}
	b.rewrites = newRewrites()
	r, err := b.query(q, nil)
	if err != nil {
		return nil, err
	}
	if columns != nil {
		if err := nameColumns(r, columns); err != nil {
			return nil, err
		}
	} else if err := distinctColumns(r); err != nil {
		return nil, err
	}
	v := &catalog.CatalogTable{Kind: catalog.KindView, Options: map[string]string{}}
	v.View = &catalog.View{Original: sqlparse.Print(q), Expanded: b.rewrites.print(q)}
	for i, c := range r.Columns {
		if c.Null {
			return nil, withHint(errAt(c.At, "Column '%s' is an untyped NULL", c.Name), "write CAST(NULL AS <type>)")
		}
		v.Schema.Columns = append(v.Schema.Columns, types.Column{Name: c.Name, Type: r.Node.Schema().Columns[i].Type})
	}
	return v, b.readBack(id, v, q)
}

// readBack makes sure that the text which is kept means what the statement meant.
func (b *Binder) readBack(id connector.ObjectIdentifier, v *catalog.CatalogTable, q sqlparse.Query) error {
	kept, err := parseQuery(v.View.Expanded)
	if err != nil {
		return inText(err, "The query cannot be kept as a view", q.Span())
	}
	b.rewrites, b.view = nil, &viewScope{id: id, depth: 1}
	r, err := b.query(kept, nil)
	if err != nil {
		return inText(err, "The query cannot be kept as a view", q.Span())
	}
	cols := r.Node.Schema().Columns
	if len(cols) != len(v.Schema.Columns) {
		return errAt(q.Span(), "The query cannot be kept as a view: it has %s in full, and %d as written", count(len(cols), "column"), len(v.Schema.Columns))
	}
	for i, c := range v.Schema.Columns {
		if !cols[i].Type.Equal(c.Type) {
			return errAt(q.Span(), "The query cannot be kept as a view: column '%s' is %s in full, and %s as written", c.Name, cols[i].Type, c.Type)
		}
	}
	return nil
}

// nameColumns gives the columns of a view's query the names of the view's list.
func nameColumns(r *Relation, names []sqlparse.Ident) error {
	defined, given := make([]string, len(names)), make([]string, len(r.Columns))
	for i, n := range names {
		defined[i] = n.Name
		for _, m := range names[:i] {
			if m.Name == n.Name {
				return errAt(n.Span(), "A column named '%s' already exists in the schema.", n.Name)
			}
		}
	}
	for i, c := range r.Columns {
		given[i] = c.Name
	}
	if len(defined) != len(given) {
		at := sqlparse.Span{Start: names[0].Span().Start, End: names[len(names)-1].Span().End}
		return errAt(at, "VIEW definition and input fields not match:\n\tDef fields: [%s].\n\tInput fields: [%s].", strings.Join(defined, ", "), strings.Join(given, ", "))
	}
	for i := range r.Columns {
		r.Columns[i].Name = defined[i]
	}
	return nil
}

// distinctColumns refuses two columns of one name.
func distinctColumns(r *Relation) error {
	first := map[string]int{}
	for i, c := range r.Columns {
		if k, ok := first[c.Name]; ok {
			return sameName(r.Columns, k, i, "view")
		}
		first[c.Name] = i
	}
	return nil
}

// checkPlace checks that the catalog and the database of a new object are there. A temporary one needs neither.
func (b *Binder) checkPlace(id connector.ObjectIdentifier, name sqlparse.ObjectName) error {
	if id.Temporary {
		return nil
	}
	if err := b.catalogs.CheckDatabase(b.ctx, id.Catalog, id.Database); err != nil {
		return atName(err, name)
	}
	return nil
}

// newObjectCatalog returns the catalog that is to keep a new object. For a temporary one that is one like
// that of the session's temporary objects, which may not be made yet: it can be asked, not written.
func (b *Binder) newObjectCatalog(id connector.ObjectIdentifier, name sqlparse.ObjectName) (catalog.Catalog, error) {
	if !id.Temporary {
		cat, err := b.catalogs.Catalog(b.ctx, id.Catalog)
		if err != nil {
			return nil, atName(err, name)
		}
		return cat, nil
	}
	ref, err := b.catalogs.RefOf(id)
	if err != nil {
		return nil, err
	}
	cat, err := b.catalogs.Registry.New(ref)
	if err != nil {
		return nil, err
	}
	return cat, cat.CreateDatabase(b.ctx, catalog.PathOf(id).Database, catalog.Database{})
}

// mustBeNew refuses a name that is taken.
func (b *Binder) mustBeNew(id connector.ObjectIdentifier, name sqlparse.ObjectName) error {
	if id.Temporary {
		if _, taken := b.catalogs.TemporaryTable(id); taken {
			return errAt(name.Span(), "Temporary table '%s' already exists", id.SQL())
		}
		return nil
	}
	_, _, err := b.catalogs.Table(b.ctx, id)
	switch {
	case err == nil:
		return alreadyExists(id, name)
	case errors.Is(err, catalog.ErrTableNotExist):
		return nil
	}
	return atName(err, name)
}

// newName completes the new name of an object, which stays in its database.
func (b *Binder) newName(id connector.ObjectIdentifier, to sqlparse.ObjectName, what string) (string, error) {
	if err := CheckName(to.Last(), what); err != nil {
		return "", err
	}
	renamed := connector.ObjectIdentifier{Catalog: id.Catalog, Database: id.Database, Object: to.Last().Name}
	if len(to.Parts) > 1 && b.catalogs.IdentifyPermanent(nameParts(to)) != renamed {
		return "", withHint(errAt(to.Span(), "RENAME TO leaves a %s in its database %s.%s", what, connector.QuoteName(id.Catalog), connector.QuoteName(id.Database)),
			"write the new name alone")
	}
	return renamed.Object, b.mustBeNew(renamed, to)
}

const unstoredHint = "create it in " + catalog.DefaultCatalog + ", or as TEMPORARY"

// unstored refuses a clause that a catalog cannot keep.
func unstored(at sqlparse.Span, id connector.ObjectIdentifier, what string) error {
	return withHint(errAt(at, "Catalog %s cannot store %s", connector.QuoteName(id.Catalog), what), unstoredHint)
}
