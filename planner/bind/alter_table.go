package bind

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Alteration is a bound ALTER TABLE: the definition that is there, the one to come, and the changes that
// lead from the one to the other.
type Alteration struct {
	ID       connector.ObjectIdentifier
	Old, New *catalog.CatalogTable
	Changes  []catalog.TableChange
	At       []sqlparse.Span // of each change in the statement
	RenameTo string          // the new name of ALTER TABLE … RENAME TO, which changes nothing else
}

// AlterTable binds ALTER TABLE. It returns nil without an error when IF EXISTS is written and the table is
// not there.
func (b *Binder) AlterTable(s *sqlparse.AlterTable) (*Alteration, error) {
	id := b.identify(s.Name)
	cat, old, err := b.catalogs.Table(b.ctx, id)
	switch {
	case id.Temporary || errors.Is(err, catalog.ErrTableNotExist):
		if s.IfExists && !id.Temporary {
			return nil, nil
		}
		e := errAt(s.Name.Span(), "Table %s doesn't exist or is a temporary table.", id.SQL())
		var ce *catalog.Error
		if errors.As(err, &ce) {
			e.Hint = ce.Hint
		}
		return nil, e
	case err != nil:
		return nil, atName(err, s.Name)
	case old.Kind == catalog.KindView:
		return nil, withHint(errAt(s.Name.Span(), "ALTER TABLE for a view is not allowed"), "ALTER VIEW alters views")
	}
	at := s.Actions[0].Span() // where what the table has already is at fault, for what is done to it
	a := &alteration{b: b, Alteration: Alteration{ID: id, Old: old}, at: at, target: target{
		id: id, cat: cat, table: copyTable(old), columns: declaredOf(old, at), places: map[string]sqlparse.Span{}}}
	if w := old.Watermark; w != nil {
		a.watermark = &watermark{column: w.Column, at: at, text: w.Expr}
	}
	for _, action := range s.Actions {
		if err := a.apply(action); err != nil {
			return nil, failedAlter(action, err)
		}
	}
	for _, action := range s.Actions {
		switch x := action.(type) {
		case *sqlparse.SetOptions:
			given, _ := optionsOf(x.Options) // has been read before
			err = a.checkDefinition(given, x.Span())
		case *sqlparse.ResetOptions:
			err = a.checkDefinition(nil, x.Span())
		}
		if err != nil {
			return nil, err
		}
	}
	a.New = a.table
	return &a.Alteration, nil
}

// checkDefinition asks the connector whether there can be the table that other options make.
func (a *alteration) checkDefinition(given map[string]*sqlparse.Option, at sqlparse.Span) error {
	f, ok := a.b.tableFactory(&a.target).(connector.DefinitionChecker)
	if !ok {
		return nil
	}
	err := f.CheckDefinition(a.table.Def(a.target.id))
	if err == nil {
		return nil
	}
	if err = placeOption(err, given, at); !errors.As(err, new(*sqlparse.Error)) {
		return errAt(at, "%s", err)
	}
	return err
}

// failedAlter puts Flink's words before an error of an ALTER TABLE that changes the schema.
func failedAlter(action sqlparse.AlterAction, err error) error {
	var e *sqlparse.Error
	if !errors.As(err, &e) {
		return err
	}
	out := *e
	if out.Hint == unstoredHint {
		out.Hint = "only a table of " + catalog.DefaultCatalog + " can have it"
	}
	switch action.(type) {
	case *sqlparse.SetOptions, *sqlparse.ResetOptions, *sqlparse.RenameTable, *sqlparse.AddPartitions, *sqlparse.DropPartitions:
	default:
		out.Msg = "Failed to execute ALTER TABLE statement.\n" + out.Msg
	}
	return &out
}

// copyTable copies a definition, so that the copy can be changed.
func copyTable(t *catalog.CatalogTable) *catalog.CatalogTable {
	c := *t
	c.Schema.Columns = slices.Clone(t.Schema.Columns)
	c.Options = maps.Clone(t.Options)
	if c.Options == nil {
		c.Options = map[string]string{}
	}
	return &c
}

// alteration builds an Alteration.
type alteration struct {
	Alteration
	target
	b  *Binder
	at sqlparse.Span // of the action
}

func (a *alteration) change(at sqlparse.Span, c catalog.TableChange) {
	a.Changes, a.At = append(a.Changes, c), append(a.At, at)
}

func (a *alteration) apply(action sqlparse.AlterAction) error {
	switch x := action.(type) {
	case *sqlparse.AddColumns:
		return a.parts(&x.TableParts, a.addColumn, false)
	case *sqlparse.ModifyColumns:
		return a.parts(&x.TableParts, a.modifyColumn, true)
	case *sqlparse.DropColumns:
		return a.dropColumns(x)
	case *sqlparse.RenameColumn:
		return a.renameColumn(x)
	case *sqlparse.DropPrimaryKey:
		return a.dropPrimaryKey(x.Span(), nil)
	case *sqlparse.DropConstraint:
		return a.dropPrimaryKey(x.Span(), &x.Name)
	case *sqlparse.DropWatermark:
		if a.watermark == nil {
			return errAt(x.Span(), "The base table does not define any watermark strategy.")
		}
		a.watermark = nil
		a.change(x.Span(), catalog.TableChange{Kind: catalog.DropWatermark})
		return a.resolve()
	case *sqlparse.DropDistribution:
		if a.table.Distribution == nil {
			return errAt(x.Span(), "Table %s does not have a distribution to drop.", a.target.id.SQL())
		}
		a.table.Distribution = nil
		a.change(x.Span(), catalog.TableChange{Kind: catalog.DropDistribution})
		return nil
	case *sqlparse.RenameTable:
		name, err := a.b.newName(a.target.id, x.To, "table")
		a.RenameTo = name
		return err
	case *sqlparse.SetOptions:
		return a.setOptions(x)
	case *sqlparse.ResetOptions:
		return a.resetOptions(x)
	case *sqlparse.AddPartitions, *sqlparse.DropPartitions:
		return withHint(errAt(x.Span(), "Partitions cannot be added or dropped by themselves here"), "a table has the partitions of its rows: INSERT INTO … PARTITION (…) makes one")
	}
	return notYet(action.Span(), "This form of ALTER TABLE")
}

// resolve makes the definition of the columns and the watermark as they are now.
func (a *alteration) resolve() error {
	if err := a.b.resolve(&a.target); err != nil {
		return err
	}
	if len(a.table.Schema.Columns) == 0 {
		return errAt(a.at, "The table would have no physical column left")
	}
	return nil
}

// parts applies ADD and MODIFY.
func (a *alteration) parts(p *sqlparse.TableParts, column func(*sqlparse.AlterColumn) error, modify bool) error {
	named := map[string]bool{}
	first := len(a.Changes)
	for i := range p.Columns {
		c := &p.Columns[i]
		if named[c.Name.Name] {
			return errAt(c.Name.Span(), "Encounter duplicate column `%s`.", c.Name.Name)
		}
		named[c.Name.Name] = true
		if err := refuseColumn(&c.ColumnDef, &a.target); err != nil {
			return err
		}
		if err := column(c); err != nil {
			return err
		}
	}
	if w := p.Watermark; w != nil {
		if err := a.setWatermark(w, modify); err != nil {
			return err
		}
	}
	key := a.table.Schema.PrimaryKey
	if p.PrimaryKey != nil {
		key = nil
		for _, name := range p.PrimaryKey.Columns {
			key = append(key, name.Name)
		}
	}
	a.notNull(key)
	old := a.table.Schema.PrimaryKey
	if err := a.resolve(); err != nil {
		return err
	}
	a.fillChanges(first)
	if p.PrimaryKey != nil {
		if err := a.setPrimaryKey(p.PrimaryKey, old != nil, modify); err != nil {
			return err
		}
	}
	if p.Distribution != nil {
		return a.setDistribution(p.Distribution, modify)
	}
	return nil
}

// notNull makes the physical columns of the key NOT NULL.
func (a *alteration) notNull(key []string) {
	for _, name := range key {
		if i := a.column(name); i >= 0 && a.columns[i].kind == sqlparse.PhysicalColumn {
			a.columns[i].Type = a.columns[i].Type.AsNotNull()
		}
	}
}

// fillChanges gives the changes of columns what was known only when all were bound: types, and what a
// virtual column is.
func (a *alteration) fillChanges(first int) {
	virtual := map[string]*catalog.VirtualColumn{}
	for i := range a.table.Virtual {
		virtual[a.table.Virtual[i].Name] = &a.table.Virtual[i]
	}
	for i := first; i < len(a.Changes); i++ {
		c := &a.Changes[i]
		switch c.Kind {
		case catalog.AddColumn, catalog.ModifyColumnType, catalog.ModifyColumnExpr:
			c.Type = a.columns[a.column(c.Column)].Type
			if c.Kind != catalog.ModifyColumnType {
				c.Virtual = virtual[c.Column]
			}
		}
	}
}

// place returns where a column goes that FIRST or AFTER may be written behind; elsewhere is what it is
// without.
func (a *alteration) place(c *sqlparse.AlterColumn, elsewhere int) (int, error) {
	switch {
	case c.First:
		return 0, nil
	case c.After == nil:
		return elsewhere, nil
	}
	i := a.column(c.After.Name)
	if i < 0 {
		e := errAt(c.After.Span(), "Referenced column `%s` by 'AFTER' does not exist in the table.", c.After.Name)
		e.Hint = didYouMean(c.After.Name, a.columnNames())
		return 0, e
	}
	return i + 1, nil
}

func (a *alteration) addColumn(c *sqlparse.AlterColumn) error {
	if a.column(c.Name.Name) >= 0 {
		return errAt(c.Name.Span(), "Try to add a column `%s` which already exists in the table.", c.Name.Name)
	}
	d, err := declare(&c.ColumnDef)
	if err != nil {
		return err
	}
	at, err := a.place(c, len(a.columns))
	if err != nil {
		return err
	}
	a.columns = slices.Insert(a.columns, at, d)
	a.change(c.Span(), catalog.TableChange{Kind: catalog.AddColumn, Column: d.Name, Value: d.Comment, Position: at})
	return nil
}

func (a *alteration) modifyColumn(c *sqlparse.AlterColumn) error {
	name := c.Name.Name
	i := a.column(name)
	if i < 0 {
		e := errAt(c.Name.Span(), "Try to modify a column `%s` which does not exist in the table.", name)
		e.Hint = didYouMean(name, a.columnNames())
		return e
	}
	d, err := declare(&c.ColumnDef)
	if err != nil {
		return err
	}
	old := a.columns[i]
	if c.Comment == nil {
		d.Comment = old.Comment
	}
	if c.After != nil && c.After.Name == name {
		return errAt(c.After.Span(), "Column `%s` cannot stand behind itself", name)
	}
	if d.kind == sqlparse.PhysicalColumn && slices.Contains(a.table.Schema.PrimaryKey, name) {
		d.Type = d.Type.AsNotNull()
	}
	a.columns = slices.Delete(a.columns, i, i+1)
	at, err := a.place(c, i)
	if err != nil {
		return err
	}
	a.columns = slices.Insert(a.columns, at, d)
	change := func(kind catalog.ChangeKind) {
		a.change(c.Span(), catalog.TableChange{Kind: kind, Column: name, Value: d.Comment, Position: at})
	}
	if (d.kind == sqlparse.PhysicalColumn) != (old.kind == sqlparse.PhysicalColumn) {
		if slices.Contains(a.table.Schema.PrimaryKey, name) || slices.Contains(a.table.PartitionKeys, name) || a.distributes(name) {
			return errAt(c.Span(), "Column `%s` is a key of the table and must be a physical column", name)
		}
		a.change(c.Span(), catalog.TableChange{Kind: catalog.DropColumn, Column: name})
		change(catalog.AddColumn)
		return nil
	}
	switch {
	case d.kind != old.kind || d.text != old.text || d.key != old.key || d.stored != old.stored:
		change(catalog.ModifyColumnExpr)
	case d.kind != sqlparse.ComputedColumn && !d.Type.Equal(old.Type):
		change(catalog.ModifyColumnType)
	}
	if at != i {
		change(catalog.ModifyColumnPosition)
	}
	if d.Comment != old.Comment {
		change(catalog.ModifyColumnComment)
	}
	return nil
}

func (a *alteration) distributes(column string) bool {
	return a.table.Distribution != nil && slices.Contains(a.table.Distribution.Columns, column)
}

func (a *alteration) setWatermark(def *sqlparse.WatermarkDef, modify bool) error {
	w, err := watermarkOf(def)
	if err != nil {
		return err
	}
	kind := catalog.AddWatermark
	switch {
	case a.cat.Stores()&catalog.StoresWatermark == 0:
		return unstored(def.Span(), a.target.id, "a WATERMARK")
	case modify && a.watermark == nil:
		return errAt(def.Span(), "The base table does not define any watermark. You might want to add a new one.")
	case modify:
		kind = catalog.ModifyWatermark
	case a.watermark != nil:
		return errAt(def.Span(), "The base table has already defined the watermark strategy `%s` AS %s. You might want to drop it before adding a new one.", a.watermark.column, a.watermark.text)
	}
	a.watermark = w
	a.change(def.Span(), catalog.TableChange{Kind: kind})
	return nil
}

func (a *alteration) setPrimaryKey(pk *sqlparse.PrimaryKey, has, modify bool) error {
	switch {
	case modify && !has:
		return errAt(pk.Span(), "The base table does not define any primary key constraint. You might want to add a new one.")
	case modify:
		a.change(pk.Span(), catalog.TableChange{Kind: catalog.DropPrimaryKey, Key: a.keyName()})
	case has:
		return errAt(pk.Span(), "The base table has already defined the primary key constraint [`%s`]. You might want to drop it before adding a new one.", strings.Join(a.table.Schema.PrimaryKey, "`, `"))
	}
	if err := a.primaryKey(pk); err != nil {
		return err
	}
	a.change(pk.Span(), catalog.TableChange{Kind: catalog.AddPrimaryKey, Key: a.keyName()})
	return nil
}

// keyName is the name of the key's constraint, Flink's for one without.
func (a *alteration) keyName() string {
	if n := a.table.Schema.PrimaryKeyName; n != "" {
		return n
	}
	return "PK_" + strings.Join(a.table.Schema.PrimaryKey, "_")
}

func (a *alteration) dropPrimaryKey(at sqlparse.Span, name *sqlparse.Ident) error {
	switch have := a.keyName(); {
	case a.table.Schema.PrimaryKey == nil:
		return errAt(at, "The base table does not define any primary key.")
	case name != nil && name.Name != have:
		return errAt(name.Span(), "The base table does not define a primary key constraint named '%s'. Available constraint name: ['%s'].", name.Name, have)
	default:
		a.change(at, catalog.TableChange{Kind: catalog.DropPrimaryKey, Key: have})
	}
	a.table.Schema.PrimaryKey, a.table.Schema.PrimaryKeyName = nil, ""
	return nil
}

func (a *alteration) setDistribution(d *sqlparse.Distribution, modify bool) error {
	kind := catalog.AddDistribution
	switch has := a.table.Distribution != nil; {
	case a.cat.Stores()&catalog.StoresDistribution == 0:
		return unstored(d.Span(), a.target.id, "DISTRIBUTION")
	case modify && !has:
		return errAt(d.Span(), "The base table does not define any distribution. You might want to add a new one.")
	case modify:
		kind = catalog.ModifyDistribution
	case has:
		return errAt(d.Span(), "The base table has already defined a distribution. You might want to drop it before adding a new one.")
	}
	if err := a.distribution(d); err != nil {
		return err
	}
	a.change(d.Span(), catalog.TableChange{Kind: kind})
	return nil
}

// references refuses to take a column away, or its name, that something else of the table is made of.
// dropped are the columns that go as well.
func (a *alteration) references(name sqlparse.Ident, dropped map[string]bool) error {
	if a.column(name.Name) < 0 {
		e := errAt(name.Span(), "The column `%s` does not exist in the base table.", name.Name)
		e.Hint = didYouMean(name.Name, a.columnNames())
		return e
	}
	uses := func(text string) (bool, error) {
		e, err := parseExpr(text)
		if err != nil {
			return false, inText(err, "Expression "+text, name.Span())
		}
		return slices.ContainsFunc(columnRefs(e), func(r *sqlparse.ColumnRef) bool { return r.Parts[0].Name == name.Name }), nil
	}
	var by []string
	for _, c := range a.columns {
		if c.kind != sqlparse.ComputedColumn || dropped[c.Name] {
			continue
		}
		used, err := uses(c.text)
		if err != nil {
			return err
		}
		if used {
			by = append(by, connector.QuoteName(c.Name))
		}
	}
	slices.Sort(by)
	switch {
	case by != nil:
		return errAt(name.Span(), "The column %s is referenced by computed column %s.", connector.QuoteName(name.Name), strings.Join(by, ", "))
	case slices.Contains(a.table.PartitionKeys, name.Name):
		return errAt(name.Span(), "The column `%s` is used as the partition keys.", name.Name)
	case a.distributes(name.Name):
		return errAt(name.Span(), "The column `%s` is used as a distribution key.", name.Name)
	case a.watermark == nil:
		return nil
	}
	used, err := uses(a.watermark.text)
	if err == nil && (used || a.watermark.column == name.Name) {
		err = errAt(name.Span(), "The column `%s` is referenced by watermark expression.", name.Name)
	}
	return err
}

func (a *alteration) dropColumns(x *sqlparse.DropColumns) error {
	dropped := map[string]bool{}
	for _, name := range x.Columns {
		if dropped[name.Name] {
			return errAt(name.Span(), "Duplicate column `%s`.", name.Name)
		}
		dropped[name.Name] = true
	}
	// Computed columns go first: what they refer to may go with them.
	order := slices.Clone(x.Columns)
	slices.SortStableFunc(order, func(l, r sqlparse.Ident) int { return a.rank(l) - a.rank(r) })
	for _, name := range order {
		if err := a.references(name, dropped); err != nil {
			return err
		}
		if slices.Contains(a.table.Schema.PrimaryKey, name.Name) {
			return errAt(name.Span(), "The column %s is used as the primary key.", connector.QuoteName(name.Name))
		}
		i := a.column(name.Name)
		a.columns = slices.Delete(a.columns, i, i+1)
		a.change(name.Span(), catalog.TableChange{Kind: catalog.DropColumn, Column: name.Name})
	}
	a.forget(func(column string) bool { return dropped[column] })
	return a.resolve()
}

// rank is 0 for computed columns and 1 for those that they can refer to.
func (a *alteration) rank(name sqlparse.Ident) int {
	if i := a.column(name.Name); i >= 0 && a.columns[i].kind == sqlparse.ComputedColumn {
		return 0
	}
	return 1
}

// forget takes columns out of the lists of those that the store fills itself.
func (a *alteration) forget(gone func(string) bool) {
	a.table.ReadOnly = slices.DeleteFunc(slices.Clone(a.table.ReadOnly), gone)
	a.table.Defaults = slices.DeleteFunc(slices.Clone(a.table.Defaults), gone)
}

func (a *alteration) renameColumn(x *sqlparse.RenameColumn) error {
	if err := a.references(x.From, nil); err != nil {
		return err
	}
	if a.column(x.To.Name) >= 0 {
		return errAt(x.To.Span(), "The column `%s` already existed in table schema.", x.To.Name)
	}
	if x.To.Name == "" {
		return errAt(x.To.Span(), "A column needs a name")
	}
	from, to := x.From.Name, x.To.Name
	c := &a.columns[a.column(from)]
	c.Name = to
	for _, list := range []*[]string{&a.table.Schema.PrimaryKey, &a.table.ReadOnly, &a.table.Defaults} {
		if i := slices.Index(*list, from); i >= 0 {
			*list = slices.Clone(*list)
			(*list)[i] = to
		}
	}
	a.change(x.Span(), catalog.TableChange{Kind: catalog.RenameColumn, Column: from, NewName: to})
	return a.resolve()
}

// setOptions sets options; of one that is given several times the last counts.
func (a *alteration) setOptions(x *sqlparse.SetOptions) error {
	given := map[string]*sqlparse.Option{}
	var keys []string
	for i := range x.Options.Items {
		o := &x.Options.Items[i]
		key := o.Key.Text
		if catalog.ReservedOption(key) {
			return errAt(o.Key.Span(), "The option name '%s' is reserved", key)
		}
		if given[key] == nil {
			keys = append(keys, key)
		}
		given[key] = o
	}
	if len(keys) > 0 && a.cat.Stores()&catalog.StoresOptions == 0 {
		return unstored(x.Span(), a.target.id, "options")
	}
	for _, key := range keys {
		value := given[key].Value.Text
		if key == "connector" && a.Old.Options[key] != value {
			return withHint(errAt(given[key].Span(), "ALTER TABLE SET does not support changing 'connector'"), "CREATE TABLE … LIKE makes another table of the same columns")
		}
		a.table.Options[key] = value
		a.change(given[key].Span(), catalog.TableChange{Kind: catalog.SetOption, Key: key, Value: value})
	}
	return placeOption(a.b.checkOptions(&a.target), given, x.Span())
}

func (a *alteration) resetOptions(x *sqlparse.ResetOptions) error {
	if len(x.Keys) == 0 {
		return errAt(x.Span(), "ALTER TABLE RESET does not support empty key")
	}
	given := map[string]*sqlparse.Option{}
	for _, k := range x.Keys {
		key := k.Text
		if key == "connector" {
			return errAt(k.Span(), "ALTER TABLE RESET does not support changing 'connector'")
		}
		given[key] = &sqlparse.Option{Key: k, Value: k}
		if _, ok := a.table.Options[key]; ok {
			delete(a.table.Options, key)
			a.change(k.Span(), catalog.TableChange{Kind: catalog.ResetOption, Key: key})
		}
	}
	return placeOption(a.b.checkOptions(&a.target), given, x.Span())
}
