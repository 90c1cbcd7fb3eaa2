package bind

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// target is the table that a CREATE TABLE makes, or that an ALTER TABLE leads to.
type target struct {
	id        connector.ObjectIdentifier
	cat       catalog.Catalog
	table     *catalog.CatalogTable
	columns   []declared
	watermark *watermark // nil: none
	// places are where the columns come from, for errors of the catalog.
	places map[string]sqlparse.Span
}

// CreateTable binds a plain CREATE TABLE: the definition is resolved and the catalog has checked it, but
// nothing is made. An existing table is an error unless IF NOT EXISTS is written.
func (b *Binder) CreateTable(s *sqlparse.CreateTable) (connector.ObjectIdentifier, *catalog.CatalogTable, error) {
	none := connector.ObjectIdentifier{}
	switch {
	case s.ColumnNames != nil:
		return none, nil, errAt(s.ColumnsSpan, "Columns identifiers without types in the schema are supported on CTAS/RTAS statements only.")
	case len(s.Columns) == 0 && s.Like == nil:
		return none, nil, b.proposeColumns(s)
	}
	t, err := b.createTarget(s)
	if err != nil {
		return none, nil, err
	}
	for i := range s.Columns {
		if err := t.declare(&s.Columns[i]); err != nil {
			return none, nil, err
		}
	}
	if s.Like != nil {
		err = b.like(s, t)
	} else {
		err = b.define(s, t)
	}
	if err != nil {
		return none, nil, err
	}
	if len(t.table.Schema.Columns) == 0 {
		return none, nil, withHint(errAt(s.Name.Span(), "A table without a physical column is not possible"), "declare one with a name and a type")
	}
	if err := b.checkDefinition(s, t); err != nil {
		return none, nil, err
	}
	_, exists, err := b.check(s, t, catalog.CreateTable)
	switch {
	case err != nil || s.IfNotExists:
	case t.id.Temporary:
		err = b.mustBeNew(t.id, s.Name)
	case exists:
		err = alreadyExists(t.id, s.Name)
	}
	return t.id, t.table, err
}

// declare adds a column as written.
func (t *target) declare(def *sqlparse.ColumnDef) error {
	c, err := declare(def)
	if err != nil {
		return err
	}
	if t.column(c.Name) >= 0 {
		return errAt(def.Name.Span(), "A column named '%s' already exists in the schema.", c.Name)
	}
	t.columns = append(t.columns, c)
	return nil
}

// define makes the definition of the columns declared and of the clauses of a CREATE TABLE.
func (b *Binder) define(s *sqlparse.CreateTable, t *target) error {
	if s.Watermark != nil {
		w, err := watermarkOf(s.Watermark)
		if err != nil {
			return err
		}
		t.watermark = w
	}
	t.keyNotNull(s.PrimaryKey)
	if err := b.resolve(t); err != nil {
		return err
	}
	if err := t.primaryKey(s.PrimaryKey); err != nil {
		return err
	}
	if err := t.partitionKeys(s.PartitionedBy); err != nil {
		return err
	}
	return t.distribution(s.Distribution)
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

// createTarget resolves all of a CREATE TABLE but its columns and what is said of them.
func (b *Binder) createTarget(s *sqlparse.CreateTable) (*target, error) {
	t := &target{id: b.catalogs.IdentifyPermanent(nameParts(s.Name)), places: map[string]sqlparse.Span{}}
	t.id.Temporary = s.Temporary
	if err := CheckName(s.Name.Last(), "table"); err != nil {
		return nil, err
	}
	if err := b.checkPlace(t.id, s.Name); err != nil {
		return nil, err
	}
	var err error
	if t.cat, err = b.newObjectCatalog(t.id, s.Name); err != nil {
		return nil, err
	}
	t.table = &catalog.CatalogTable{Kind: catalog.KindTable, Options: map[string]string{}}
	if err := refuseUnstored(s, t); err != nil {
		return nil, err
	}
	if s.Comment != nil {
		t.table.Comment = s.Comment.Text
	}
	if s.Like != nil {
		return t, nil // the options are not all of this statement
	}
	return t, b.tableOptions(s, t)
}

// refuseUnstored refuses the clauses that the catalog cannot keep.
func refuseUnstored(s *sqlparse.CreateTable, t *target) error {
	stores := t.cat.Stores()
	for i := range s.Columns {
		if err := refuseColumn(&s.Columns[i], t); err != nil {
			return err
		}
	}
	switch {
	case s.Watermark != nil && stores&catalog.StoresWatermark == 0:
		return unstored(s.Watermark.Span(), t.id, "a WATERMARK")
	case s.Comment != nil && stores&catalog.StoresComment == 0:
		return unstored(s.Comment.Span(), t.id, "a COMMENT")
	case s.Distribution != nil && stores&catalog.StoresDistribution == 0:
		return unstored(s.Distribution.Span(), t.id, "DISTRIBUTED")
	case s.PartitionedBy != nil && stores&catalog.StoresPartitions == 0:
		return unstored(s.PartitionedBy.Span(), t.id, "PARTITIONED BY")
	case s.Options != nil && len(s.Options.Items) > 0 && stores&catalog.StoresOptions == 0:
		return unstored(s.Options.Span(), t.id, "WITH options")
	}
	return nil
}

// refuseColumn refuses a column that the catalog cannot keep as it is written.
func refuseColumn(c *sqlparse.ColumnDef, t *target) error {
	stores := t.cat.Stores()
	switch {
	case c.Kind == sqlparse.ComputedColumn && stores&catalog.StoresComputed == 0:
		return unstored(c.Span(), t.id, "a computed column")
	case c.Kind == sqlparse.MetadataColumn && stores&catalog.StoresMetadata == 0:
		return unstored(c.Span(), t.id, "a METADATA column")
	case c.Comment != nil && stores&catalog.StoresComment == 0:
		return unstored(c.Comment.Span(), t.id, "the COMMENT of a column")
	}
	return nil
}

// tableOptions checks the WITH clause against what the connector declares.
func (b *Binder) tableOptions(s *sqlparse.CreateTable, t *target) error {
	at := s.Name.Span() // of an option that is missing
	given, err := optionsOf(s.Options)
	if err != nil {
		return err
	}
	if s.Options != nil {
		at = s.Options.Span()
	}
	for key, o := range given {
		t.table.Options[key] = o.Value.Text
	}
	return placeOption(b.checkOptions(t), given, at)
}

// optionsOf returns the options of a WITH clause by key.
func optionsOf(list *sqlparse.Options) (map[string]*sqlparse.Option, error) {
	given := map[string]*sqlparse.Option{}
	if list == nil {
		return given, nil
	}
	for i := range list.Items {
		o := &list.Items[i]
		key := o.Key.Text
		if _, ok := given[key]; ok {
			return nil, errAt(o.Key.Span(), "Option '%s' is given twice", key)
		}
		if catalog.ReservedOption(key) {
			return nil, errAt(o.Key.Span(), "The option name '%s' is reserved", key)
		}
		given[key] = o
	}
	return given, nil
}

// placeOption puts an error of the options at the one at fault, or at a place for those that are missing.
func placeOption(err error, given map[string]*sqlparse.Option, at sqlparse.Span) error {
	var oe *connector.OptionError
	if !errors.As(err, &oe) {
		return err
	}
	if o, ok := given[oe.Key]; ok {
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

// check asks the catalog what the table would be.
func (b *Binder) check(s *sqlparse.CreateTable, t *target, purpose catalog.Purpose) (c *catalog.Check, exists bool, err error) {
	c, err = t.cat.Check(b.ctx, catalog.PathOf(t.id), t.table, purpose)
	if errors.Is(err, catalog.ErrTableAlreadyExist) {
		return c, true, nil
	}
	if errors.Is(err, catalog.ErrTableNotExist) && purpose == catalog.ReplaceTableAs {
		return nil, false, b.nothingToReplace(s, t.id)
	}
	var ce *catalog.ColumnError
	if errors.As(err, &ce) {
		at, ok := t.places[ce.Column]
		if !ok {
			at = s.Name.Span()
		}
		return nil, false, errAt(at, "%s", ce.Msg)
	}
	given, _ := optionsOf(s.Options) // has been read before
	if err = placeOption(err, given, s.Name.Span()); err != nil {
		err = atName(err, s.Name)
	}
	return c, false, err
}

func alreadyExists(id connector.ObjectIdentifier, name sqlparse.ObjectName) error {
	return errAt(name.Span(), "Table (or view) %s.%s already exists in Catalog %s.", id.Database, id.Object, id.Catalog)
}

// nothingToReplace is the error of a REPLACE TABLE whose table is not there.
func (b *Binder) nothingToReplace(s *sqlparse.CreateTable, id connector.ObjectIdentifier) error {
	e := errAt(s.Name.Span(), "The table %s to be replaced doesn't exist. You can try to use CREATE TABLE AS statement or CREATE OR REPLACE TABLE AS statement.", id.SQL())
	var missing *catalog.Error
	if _, _, err := b.catalogs.Table(b.ctx, id); errors.As(err, &missing) {
		e.Hint = missing.Hint
	}
	return e
}
