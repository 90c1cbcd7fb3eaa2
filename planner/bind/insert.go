package bind

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/job"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// Write is a bound INSERT or CREATE TABLE AS: the rows, in the order and with the types of the target's
// columns, and the target.
type Write struct {
	Node     plan.Node
	Target   connector.ObjectIdentifier
	Table    *catalog.CatalogTable
	StoreKey string
	Columns  []int // positions written, of what the store keeps, in the order of the rows
	NotNull  []int // columns of the rows that must not be NULL but may be
	// Check is what the catalog says of the target; of an INSERT only Notes are set.
	Check *catalog.Check
	// Exists says that the target of CREATE TABLE IF NOT EXISTS … AS is there already.
	Exists bool
	// Upserts and Changes say what the target takes besides new rows: rows that replace each other by a key,
	// and changes as they are. Of CREATE TABLE AS that is not always known before the table is there: Opened.
	Upserts, Changes, Opened bool
	// Key are the first columns of the rows where they tell which row of the table is changed, of UPDATE and
	// DELETE: their names, empty where one means nothing to a user.
	Key []string
	// Overwrite says that the rows take the place of all that the table has.
	Overwrite bool
	// columns are what the store keeps: the physical columns, then the metadata columns.
	columns []types.Column
}

func newWrite(id connector.ObjectIdentifier, t *catalog.CatalogTable) *Write {
	return &Write{Target: id, Table: t, Check: &catalog.Check{}, columns: t.Def(id).Schema.Columns}
}

// takes notes what a target takes.
func (w *Write) takes(opened connector.Table) {
	_, w.Upserts = opened.(connector.Upserter)
	_, w.Changes = opened.(connector.ChangelogWritable)
	w.Opened = true
}

// KeyColumns returns the columns of the rows that are the target's PRIMARY KEY, in its order; false when it
// has none, or a column of it is not written.
func (w *Write) KeyColumns() ([]int, bool) {
	var key []int
	for _, name := range w.Table.Schema.PrimaryKey {
		i := slices.IndexFunc(w.Columns, func(c int) bool { return w.columns[c].Name == name })
		if i < 0 {
			return nil, false
		}
		key = append(key, i)
	}
	return key, key != nil
}

// Names are the columns written, in the order of the rows.
func (w *Write) Names() []string {
	names := make([]string, len(w.Columns))
	for i, c := range w.Columns {
		names[i] = w.columns[c].Name
	}
	return names
}

// Insert binds INSERT INTO and INSERT OVERWRITE.
func (b *Binder) Insert(s *sqlparse.Insert) (*Write, error) {
	switch {
	case s.Overwrite && s.Partition != nil:
		return nil, withHint(errAt(s.Partition[0].Span(), "INSERT OVERWRITE of some partitions is not supported: all rows of a table are replaced, or none"),
			"without PARTITION it replaces all rows")
	case s.Overwrite && b.asked == job.Streaming:
		return nil, b.noOverwrite(s)
	case s.OnConflict != nil:
		return nil, notYet(s.OnConflict.Span(), "ON CONFLICT")
	}
	if err := refuseHints(s.Hints); err != nil {
		return nil, err
	}
	d, err := b.lookup(s.Table)
	if err != nil {
		return nil, err
	}
	if d.table.Kind == catalog.KindView {
		return nil, errAt(s.Table.Span(), "%s is a view and cannot be written", d.id)
	}
	t, opened, err := b.openTable(d, s.Table)
	if err != nil {
		return nil, err
	}
	if _, ok := opened.(connector.Writable); !ok {
		return nil, errAt(s.Table.Span(), "Table %s cannot be written", t.ID)
	}
	if s.Overwrite {
		if err := b.canOverwrite(opened, t, s.Table); err != nil {
			return nil, err
		}
	}
	w := newWrite(t.ID, t.Def)
	w.StoreKey = t.StoreKey
	if w.Overwrite = s.Overwrite; s.Overwrite {
		w.Check.Notes = append(w.Check.Notes, "the rows that the table has now stay up to the commit, and are gone with it")
	}
	static, err := b.staticPartition(w, s)
	if err != nil {
		return nil, err
	}
	if err := w.targetColumns(s, static); err != nil {
		return nil, err
	}
	w.takes(opened)
	r, err := b.Query(s.Query)
	if err != nil {
		return nil, err
	}
	if s.Overwrite && b.Mode() == job.Streaming {
		return nil, b.noOverwrite(s)
	}
	var exprs []expr.Expr
	var from []Column
	var open []int // those of the query
	for _, c := range w.Columns {
		if k := len(open); static[c] == nil {
			if open = append(open, c); k < len(r.Columns) {
				exprs, from = append(exprs, r.column(k)), append(from, r.Columns[k])
			}
			continue
		}
		exprs = append(exprs, static[c])
		from = append(from, Column{Name: w.columns[c].Name, At: placeOf(static[c])})
	}
	if len(r.Columns) != len(open) {
		return nil, withHint(errAt(s.Query.Span(), "Number of INSERT target columns (%d) does not equal number of source items (%d)", len(open), len(r.Columns)),
			"the target columns are %s", quotedNames(w.columns, open))
	}
	return w, w.assign(r.Node, exprs, from)
}

// canOverwrite refuses a table whose rows cannot be replaced as a whole.
func (b *Binder) canOverwrite(opened connector.Table, t *plan.Table, name sqlparse.ObjectName) error {
	o, ok := opened.(connector.Overwriter)
	if !ok {
		return withHint(errAt(name.Span(), "INSERT OVERWRITE cannot be used on table %s: %s", t.ID, ofConnector(t, "cannot replace its rows in one step")),
			"the tables of generic_in_memory and jdbc catalogs can be overwritten")
	}
	if err := o.CheckOverwrite(b.ctx); err != nil {
		return atName(err, name)
	}
	return nil
}

// ofConnector says what the connector of a table cannot do.
func ofConnector(t *plan.Table, cannot string) string {
	if name, ok := t.Def.Options["connector"]; ok {
		return "its connector '" + name + "' " + cannot
	}
	return "its catalog " + cannot
}

// noOverwrite is the error for rows that would be replaced in streaming mode: that is done by the commit of the
// last of the new ones, which a stream need not have.
func (b *Binder) noOverwrite(s *sqlparse.Insert) error {
	e := errAt(s.Span(), "INSERT OVERWRITE is not supported in streaming mode: the rows of a table are replaced as a whole, once the last new one is there")
	if u := b.limits.unbounded; u != nil {
		return withHint(e, "table %s has no end; INSERT INTO adds its rows as they come", u.id)
	}
	return withHint(e, "batch mode can: SET 'execution.runtime-mode' = 'batch'")
}

// staticPartition binds PARTITION (column = value, column, …): the values by the position of their column.
// Those of a column without a value come from the query, as they do without the clause.
func (b *Binder) staticPartition(w *Write, s *sqlparse.Insert) (map[int]expr.Expr, error) {
	static := map[int]expr.Expr{}
	seen := map[string]bool{}
	for _, item := range s.Partition {
		name := item.Name.Name
		if !slices.Contains(w.Table.PartitionKeys, name) {
			e := errAt(item.Name.Span(), "Static partition column '%s' should be in the partition fields list [%s] for table '%s'.", name, strings.Join(w.Table.PartitionKeys, ", "), w.Target)
			e.Hint = didYouMean(name, w.Table.PartitionKeys)
			if w.Table.PartitionKeys == nil {
				e = errAt(item.Name.Span(), "Table '%s' is not partitioned, so that column '%s' cannot have a value for all rows", w.Target, name)
			}
			return nil, e
		}
		if seen[name] {
			return nil, errAt(item.Name.Span(), "Target column '%s' is assigned more than once", name)
		}
		seen[name] = true
		if item.Value == nil {
			continue
		}
		i := w.Table.Schema.Index(name)
		x, err := b.partitionValue(item, w.columns[i].Type)
		if err != nil {
			return nil, err
		}
		static[i] = x
	}
	return static, nil
}

// partitionValue binds the value of a partition column, cast to the column's type.
func (b *Binder) partitionValue(item sqlparse.PartitionItem, t types.Type) (expr.Expr, error) {
	x, err := (&exprCtx{b: b, scope: &scope{}, clause: "PARTITION clause"}).expr(item.Value)
	if err != nil {
		return nil, err
	}
	if isBareNull(x) {
		return expr.NewLiteral(t.AsNullable(), nil, x.Span()), nil
	}
	if x, err = expr.NewCast(x, t.AsNullable(), false, x.Span()); err != nil {
		return nil, positioned(err)
	}
	return expr.Fold(x, b.env), nil
}

func placeOf(e expr.Expr) sqlparse.Span {
	return sqlparse.Span{Start: int(e.Span().Start), End: int(e.Span().End)}
}

// persisted returns the positions of the columns that an INSERT can write, in the order that they are
// declared in: physical ones and metadata columns that are not VIRTUAL.
func (w *Write) persisted() []int {
	var at []int
	readOnly := set(w.Table.ReadOnly)
	physical, metadata := 0, len(w.Table.Schema.Columns)
	for _, c := range w.Table.Columns() {
		switch {
		case c.Virtual == nil:
			if !readOnly[c.Name] {
				at = append(at, physical)
			}
			physical++
		case c.Virtual.Key != "":
			if c.Virtual.Stored {
				at = append(at, metadata)
			}
			metadata++
		}
	}
	return at
}

// targetColumns finds the columns that an INSERT writes; static are those that PARTITION gives a value.
func (w *Write) targetColumns(s *sqlparse.Insert, static map[int]expr.Expr) error {
	all := w.persisted()
	if s.Columns == nil {
		if w.Columns = all; len(all) == 0 {
			return errAt(s.Table.Span(), "Table %s has no column that can be written", w.Target)
		}
		return nil
	}
	given := map[int]bool{}
	for i := range static {
		given[i] = true
	}
	for _, name := range s.Columns {
		i := slices.IndexFunc(all, func(c int) bool { return w.columns[c].Name == name.Name })
		if i < 0 {
			return w.notWritable(name, all)
		}
		if given[all[i]] {
			return errAt(name.Span(), "Target column '%s' is assigned more than once", name.Name)
		}
		given[all[i]] = true
		w.Columns = append(w.Columns, all[i])
	}
	defaults := set(w.Table.Defaults)
	for _, i := range all {
		c := w.columns[i]
		switch {
		case static[i] != nil:
			w.Columns = append(w.Columns, i)
		case given[i]:
		case defaults[c.Name]:
			w.Check.Notes = append(w.Check.Notes, fmt.Sprintf("column %s is left to the store's own default", connector.QuoteName(c.Name)))
		case !c.Type.Nullable():
			at := sqlparse.Span{Start: s.Columns[0].Span().Start, End: s.Columns[len(s.Columns)-1].Span().End}
			return errAt(at, "Column '%s' has no default value and does not allow NULLs.", c.Name)
		}
	}
	return nil
}

// notWritable is the error for a column in the list of an INSERT that cannot be written.
func (w *Write) notWritable(name sqlparse.Ident, all []int) error {
	for _, c := range w.Table.Columns() {
		switch {
		case c.Name != name.Name:
		case c.Virtual == nil:
			return errAt(name.Span(), "Column '%s' is computed by the store and cannot be written", name.Name)
		case c.Virtual.Key != "":
			return withHint(errAt(name.Span(), "Unknown target column '%s'", name.Name), "it is a VIRTUAL metadata column, which can only be read")
		default:
			return withHint(errAt(name.Span(), "Unknown target column '%s'", name.Name), "it is computed AS %s", c.Virtual.Expr)
		}
	}
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = w.columns[c].Name
	}
	e := errAt(name.Span(), "Unknown target column '%s'", name.Name)
	e.Hint = didYouMean(name.Name, names)
	return e
}

func set(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}

func quotedNames(all []types.Column, columns []int) string {
	text := ""
	for i, c := range columns {
		if i > 0 {
			text += ", "
		}
		text += connector.QuoteName(all[c].Name)
	}
	return text
}

// assign casts expressions over in to the types of the columns written. from says where each comes from.
func (w *Write) assign(in plan.Node, exprs []expr.Expr, from []Column) error {
	names := make([]string, len(w.Columns))
	out := make([]expr.Expr, len(w.Columns))
	same := plan.Width(in) == len(w.Columns)
	for i, c := range w.Columns {
		col := w.columns[c]
		names[i] = col.Name
		x, err := coerce(exprs[i], col.Type)
		if err != nil {
			return incompatible(err, col, exprs[i], from[i])
		}
		if x.Type().Nullable() && !col.Type.Nullable() {
			w.NotNull = append(w.NotNull, i)
		}
		ref, isColumn := x.(*expr.Column)
		same = same && isColumn && ref.Index == i
		out[i] = x
	}
	if w.Node = in; !same {
		w.Node = plan.NewProject(in, out, names)
	}
	return nil
}

func incompatible(err error, target types.Column, source expr.Expr, from Column) error {
	var e *expr.Error
	if !errors.As(err, &e) {
		return err
	}
	to := target.Type.AsNullable()
	at, typ := from.culprit(source.Type(), target.Type)
	msg := errAt(at, "Incompatible types for sink column '%s'. The source column has type '%s', while the target column has type '%s'.",
		target.Name, typ.AsNullable(), to)
	if types.CastAllowed(typ, to) {
		msg.Hint = fmt.Sprintf("write CAST(… AS %s)", to)
	}
	return msg
}
