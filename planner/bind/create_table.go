package bind

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// target is the table that a CREATE TABLE makes.
type target struct {
	id    connector.ObjectIdentifier
	cat   catalog.Catalog
	table *catalog.CatalogTable
	// places are where the columns of the schema come from, for errors of the catalog.
	places map[string]sqlparse.Span
}

// CreateTable binds a plain CREATE TABLE: the definition is resolved and the catalog has checked it, but
// nothing is made. An existing table is an error unless IF NOT EXISTS is written.
func (b *Binder) CreateTable(s *sqlparse.CreateTable) (connector.ObjectIdentifier, *catalog.CatalogTable, error) {
	none := connector.ObjectIdentifier{}
	switch {
	case s.Like != nil:
		return none, nil, notYet(s.Like.Span(), "CREATE TABLE … LIKE")
	case s.Temporary:
		return none, nil, notYet(s.TemporarySpan, "CREATE TEMPORARY TABLE")
	case s.ColumnNames != nil:
		return none, nil, errAt(s.ColumnsSpan, "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only.")
	case len(s.Columns) == 0:
		return none, nil, withHint(errAt(s.Name.Span(), "A CREATE TABLE without columns is not supported yet"), "list the columns with their types")
	}
	t, err := b.createTarget(s)
	if err != nil {
		return none, nil, err
	}
	for i := range s.Columns {
		c, err := declaredColumn(&s.Columns[i])
		if err != nil {
			return none, nil, err
		}
		t.table.Schema.Columns = append(t.table.Schema.Columns, c)
		t.places[c.Name] = s.Columns[i].Span()
	}
	if err := t.primaryKey(s.PrimaryKey); err != nil {
		return none, nil, err
	}
	_, exists, err := b.check(s, t, catalog.CreateTable)
	if err == nil && exists && !s.IfNotExists {
		err = alreadyExists(t.id, s.Name)
	}
	return t.id, t.table, err
}

// CheckName refuses the name of an object to create that is empty or begins as those of the program's and
// the stores' own objects do.
func CheckName(name sqlparse.Ident, what string) error {
	if name.Name == "" {
		return errAt(name.Span(), "A %s needs a name", what)
	}
	for _, p := range [...]string{"_sluice", ".sluice", "sqlite_"} {
		if strings.HasPrefix(strings.ToLower(name.Name), p) {
			return errAt(name.Span(), "A name beginning with %s is reserved", p)
		}
	}
	return nil
}

// createTarget resolves all of a CREATE TABLE but its columns and key.
func (b *Binder) createTarget(s *sqlparse.CreateTable) (*target, error) {
	t := &target{id: b.identify(s.Name), places: map[string]sqlparse.Span{}}
	if err := CheckName(s.Name.Last(), "table"); err != nil {
		return nil, err
	}
	if err := b.catalogs.CheckDatabase(b.ctx, t.id.Catalog, t.id.Database); err != nil {
		return nil, atName(err, s.Name)
	}
	var err error
	if t.cat, err = b.catalogs.Catalog(b.ctx, t.id.Catalog); err != nil {
		return nil, atName(err, s.Name)
	}
	t.table = &catalog.CatalogTable{Kind: catalog.KindTable, Options: map[string]string{}}
	if err := refuseUnstored(s, t); err != nil {
		return nil, err
	}
	if s.Comment != nil {
		t.table.Comment = s.Comment.Text
	}
	return t, b.tableOptions(s, t)
}

// refuseUnstored refuses the clauses that the catalog cannot keep, and those that no catalog can yet.
func refuseUnstored(s *sqlparse.CreateTable, t *target) error {
	stores := t.cat.Stores()
	refuse := func(at sqlparse.Span, what string) error {
		return withHint(errAt(at, "Catalog %s cannot store %s", connector.QuoteName(t.id.Catalog), what), "leave it out, or create the table in %s", catalog.DefaultCatalog)
	}
	duplicates := map[string]bool{}
	for i := range s.Columns {
		c := &s.Columns[i]
		switch {
		case c.Kind == sqlparse.ComputedColumn:
			return notYet(c.Span(), "A computed column")
		case c.Kind == sqlparse.MetadataColumn:
			return notYet(c.Span(), "A METADATA column")
		case c.Comment != nil && stores&catalog.StoresComment == 0:
			return refuse(c.Comment.Span(), "the COMMENT of a column")
		case duplicates[c.Name.Name]:
			return errAt(c.Name.Span(), "A column named '%s' already exists in the schema.", c.Name.Name)
		}
		duplicates[c.Name.Name] = true
	}
	switch {
	case s.Watermark != nil:
		return notYet(s.Watermark.Span(), "WATERMARK")
	case s.Comment != nil && stores&catalog.StoresComment == 0:
		return refuse(s.Comment.Span(), "a COMMENT")
	case s.Distribution != nil:
		return notYet(s.Distribution.Span(), "DISTRIBUTED")
	case s.PartitionedBy != nil:
		return notYet(s.PartitionedBy.Span(), "PARTITIONED BY")
	case s.Options != nil && len(s.Options.Items) > 0 && stores&catalog.StoresOptions == 0:
		return refuse(s.Options.Span(), "WITH options")
	}
	return nil
}

// tableOptions checks the WITH clause against what the connector declares.
func (b *Binder) tableOptions(s *sqlparse.CreateTable, t *target) error {
	places := map[string]*sqlparse.Option{}
	at := s.Name.Span() // of an option that is missing
	if s.Options != nil {
		at = s.Options.Span()
		for i := range s.Options.Items {
			o := &s.Options.Items[i]
			key := o.Key.Text
			if _, ok := places[key]; ok {
				return errAt(o.Key.Span(), "Option '%s' is given twice", key)
			}
			if key == "comment" || strings.HasPrefix(key, "schema.") {
				return errAt(o.Key.Span(), "The option name '%s' is reserved", key)
			}
			places[key] = o
			t.table.Options[key] = o.Value.Text
		}
	}
	err := b.checkOptions(t)
	var oe *connector.OptionError
	if !errors.As(err, &oe) {
		return err
	}
	if o, ok := places[oe.Key]; ok {
		if at = o.Value.Span(); oe.KeyAtFault {
			at = o.Key.Span()
		}
	}
	return errAt(at, "%s", oe.Msg)
}

func (b *Binder) checkOptions(t *target) error {
	declared := []connector.Option{{Key: "connector", Public: true, Doc: "the table's connector"}}
	name, ok := t.table.Options["connector"]
	if !ok {
		f := t.cat.Factory()
		if f == nil {
			return &connector.OptionError{Msg: "the table needs the option 'connector': catalog " + t.id.Catalog + " keeps no rows itself"}
		}
		return connector.CheckOptions("the tables of catalog "+connector.QuoteName(t.id.Catalog), append(declared, f.Options()...), t.table.Options)
	}
	var names []string
	for _, f := range b.catalogs.Registry.Connectors {
		if f.Identifier() == name {
			return connector.CheckOptions("connector '"+name+"'", append(declared, f.Options()...), t.table.Options)
		}
		names = append(names, f.Identifier())
	}
	msg := fmt.Sprintf("unknown connector '%s'", name)
	if len(names) == 0 {
		msg += "; there are none"
	} else {
		msg += "; available: '" + strings.Join(names, "', '") + "'"
	}
	return &connector.OptionError{Key: "connector", Msg: msg}
}

// declaredColumn resolves a physical column.
func declaredColumn(c *sqlparse.ColumnDef) (types.Column, error) {
	t, err := dataType(c.Type)
	if err != nil {
		return types.Column{}, err
	}
	col := types.Column{Name: c.Name.Name, Type: t}
	if c.Comment != nil {
		col.Comment = c.Comment.Text
	}
	return col, nil
}

// primaryKey sets the key, whose columns become NOT NULL.
func (t *target) primaryKey(pk *sqlparse.PrimaryKey) error {
	if pk == nil {
		return nil
	}
	s := &t.table.Schema
	s.PrimaryKey = []string{}
	for _, name := range pk.Columns {
		i := s.Index(name.Name)
		if i < 0 {
			e := errAt(name.Span(), "Primary key column '%s' is not defined in the schema", name.Name)
			e.Hint = didYouMean(name.Name, s.Names())
			return e
		}
		for _, other := range s.PrimaryKey {
			if other == name.Name {
				return errAt(name.Span(), "Primary key column '%s' is named twice", name.Name)
			}
		}
		s.PrimaryKey = append(s.PrimaryKey, name.Name)
		s.Columns[i].Type = s.Columns[i].Type.AsNotNull()
	}
	if pk.Name != nil {
		s.PrimaryKeyName = pk.Name.Name
	}
	return nil
}

// check asks the catalog what the table would be.
func (b *Binder) check(s *sqlparse.CreateTable, t *target, purpose catalog.Purpose) (c *catalog.Check, exists bool, err error) {
	path := catalog.ObjectPath{Database: t.id.Database, Object: t.id.Object}
	c, err = t.cat.Check(b.ctx, path, t.table, purpose)
	if errors.Is(err, catalog.ErrTableAlreadyExist) {
		return c, true, nil
	}
	var ce *catalog.ColumnError
	if errors.As(err, &ce) {
		at, ok := t.places[ce.Column]
		if !ok {
			at = s.Name.Span()
		}
		return nil, false, errAt(at, "%s", ce.Msg)
	}
	if err != nil {
		err = atName(err, s.Name)
	}
	return c, false, err
}

func alreadyExists(id connector.ObjectIdentifier, name sqlparse.ObjectName) error {
	return errAt(name.Span(), "Table (or view) %s.%s already exists in Catalog %s.", id.Database, id.Object, id.Catalog)
}
