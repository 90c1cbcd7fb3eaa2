package bind

import (
	"errors"
	"fmt"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/expr"
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
	Columns  []int // positions written, in the order of the rows
	NotNull  []int // columns of the rows that must not be NULL but may be
	// Check is what the catalog says of the target; of an INSERT only Notes are set.
	Check *catalog.Check
	// Exists says that the target of CREATE TABLE IF NOT EXISTS … AS is there already.
	Exists bool
}

// Insert binds INSERT INTO.
func (b *Binder) Insert(s *sqlparse.Insert) (*Write, error) {
	switch {
	case s.Overwrite:
		return nil, notYet(s.Span(), "INSERT OVERWRITE")
	case len(s.Partition) > 0:
		return nil, notYet(s.Partition[0].Span(), "INSERT … PARTITION")
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
	w := &Write{Target: t.ID, Table: t.Def, StoreKey: t.StoreKey, Check: &catalog.Check{}}
	if err := w.targetColumns(s); err != nil {
		return nil, err
	}
	r, err := b.query(s.Query, nil)
	if err != nil {
		return nil, err
	}
	if len(r.Columns) != len(w.Columns) {
		return nil, withHint(errAt(s.Query.Span(), "Number of INSERT target columns (%d) does not equal number of source items (%d)", len(w.Columns), len(r.Columns)),
			"the target columns are %s", quotedNames(w.Table.Schema, w.Columns))
	}
	exprs := make([]expr.Expr, len(r.Columns))
	for i := range exprs {
		exprs[i] = r.column(i)
	}
	return w, w.assign(r.Node, exprs, r.Columns)
}

// targetColumns finds the columns that an INSERT writes.
func (w *Write) targetColumns(s *sqlparse.Insert) error {
	cols := w.Table.Schema.Columns
	readOnly, defaults := set(w.Table.ReadOnly), set(w.Table.Defaults)
	if s.Columns == nil {
		for i, c := range cols {
			if !readOnly[c.Name] {
				w.Columns = append(w.Columns, i)
			}
		}
		if len(w.Columns) == 0 {
			return errAt(s.Table.Span(), "Table %s has no column that can be written", w.Target)
		}
		return nil
	}
	given := map[int]bool{}
	for _, name := range s.Columns {
		i := w.Table.Schema.Index(name.Name)
		switch {
		case i < 0:
			e := errAt(name.Span(), "Unknown target column '%s'", name.Name)
			e.Hint = didYouMean(name.Name, w.Table.Schema.Names())
			return e
		case given[i]:
			return errAt(name.Span(), "Target column '%s' is assigned more than once", name.Name)
		case readOnly[name.Name]:
			return errAt(name.Span(), "Column '%s' is computed by the store and cannot be written", name.Name)
		}
		given[i] = true
		w.Columns = append(w.Columns, i)
	}
	for i, c := range cols {
		switch {
		case given[i] || readOnly[c.Name]:
		case defaults[c.Name]:
			w.Check.Notes = append(w.Check.Notes, fmt.Sprintf("column %s is left to the store's own default", connector.QuoteName(c.Name)))
		case !c.Type.Nullable():
			at := sqlparse.Span{Start: s.Columns[0].Span().Start, End: s.Columns[len(s.Columns)-1].Span().End}
			return errAt(at, "Column '%s' has no default value and does not allow NULLs.", c.Name)
		}
	}
	return nil
}

func set(names []string) map[string]bool {
	s := make(map[string]bool, len(names))
	for _, n := range names {
		s[n] = true
	}
	return s
}

func quotedNames(s types.Schema, columns []int) string {
	text := ""
	for i, c := range columns {
		if i > 0 {
			text += ", "
		}
		text += connector.QuoteName(s.Columns[c].Name)
	}
	return text
}

// assign casts expressions over in to the types of the columns written. from says where each comes from.
func (w *Write) assign(in plan.Node, exprs []expr.Expr, from []Column) error {
	names := make([]string, len(w.Columns))
	out := make([]expr.Expr, len(w.Columns))
	same := plan.Width(in) == len(w.Columns)
	for i, c := range w.Columns {
		col := w.Table.Schema.Columns[c]
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
