package bind

import (
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
	"github.com/sluice-sql/sluice/types"
)

// nestedType resolves the parts of an ARRAY, MULTISET or MAP.
func nestedType(parts ...sqlparse.TypeName) ([]types.Field, error) {
	fields := make([]types.Field, len(parts))
	for i, p := range parts {
		t, err := dataType(p)
		if err != nil {
			return nil, err
		}
		fields[i].Type = t
	}
	return fields, nil
}

// rowType resolves the fields of a ROW.
func rowType(n *sqlparse.RowType) (types.Type, error) {
	var fields []types.Field
	seen := map[string]bool{}
	for i := range n.Fields {
		f := &n.Fields[i]
		if seen[f.Name.Name] {
			return types.Type{}, errAt(f.Name.Span(), "A field named '%s' is there already", f.Name.Name)
		}
		seen[f.Name.Name] = true
		t, err := dataType(f.Type)
		if err != nil {
			return t, err
		}
		field := types.Field{Name: f.Name.Name, Type: t}
		if f.Comment != nil {
			field.Comment = f.Comment.Text
		}
		fields = append(fields, field)
	}
	return types.RowOf(fields...).WithNullable(!n.IsNotNull()), nil
}

// construct binds the constructor of a nested value: ARRAY, MAP, MULTISET or ROW.
func (c *exprCtx) construct(name string, items []sqlparse.Expr, at expr.Span) (expr.Expr, error) {
	args, err := c.all(items...)
	if err != nil {
		return nil, err
	}
	for i, a := range args {
		if isBareNull(a) && name == "ROW" {
			return nil, withHint(errAt(items[i].Span(), "This field of the ROW is a NULL without a type"), "write CAST(NULL AS <type>)")
		}
	}
	return expr.NewCall(name, args, at)
}

func (c *exprCtx) collection(e *sqlparse.Collection) (expr.Expr, error) {
	if e.Query != nil {
		return nil, notYet(e.Span(), "An ARRAY, MAP or MULTISET of a query")
	}
	name := [...]string{"ARRAY", "MAP", "MULTISET"}[e.Kind]
	return c.construct(name, e.Items, span(e.Span()))
}

// item binds x[i].
func (c *exprCtx) item(e *sqlparse.Index) (expr.Expr, error) {
	args, err := c.all(e.X, e.I)
	if err != nil {
		return nil, err
	}
	return expr.NewCall("ITEM", args, span(e.Span()))
}

// field binds x.name.
func (c *exprCtx) field(e *sqlparse.Field) (expr.Expr, error) {
	x, err := c.bind(e.X)
	if err != nil {
		return nil, err
	}
	return fieldOf(x, e.Name, e.Span())
}

// fieldOf returns the field of a ROW.
func fieldOf(x expr.Expr, name sqlparse.Ident, at sqlparse.Span) (expr.Expr, error) {
	t := x.Type()
	if t.Kind != types.Row {
		return nil, errAt(name.Span(), "Only a ROW has fields, and what stands before '.%s' is of type %s", name.Name, t.AsNullable())
	}
	i := t.FieldIndex(name.Name)
	if i < 0 {
		names := make([]string, len(t.Fields))
		for k, f := range t.Fields {
			names[k] = f.Name
		}
		e := errAt(name.Span(), "The ROW has no field '%s'", name.Name)
		e.Hint = didYouMean(name.Name, names)
		return nil, e
	}
	return expr.NewCall("FIELD", []expr.Expr{x, expr.NewLiteral(types.Of(types.Int), int64(i), span(name.Span()))}, span(at))
}
