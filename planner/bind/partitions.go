package bind

import (
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/catalog"
	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// Partitions binds SHOW PARTITIONS: the different values of the partition columns, sorted, of the rows that
// a partition spec lets through.
func (b *Binder) Partitions(name sqlparse.ObjectName, spec []sqlparse.PartitionItem) (*Relation, error) {
	d, err := b.lookup(name)
	if err != nil {
		return nil, err
	}
	keys := d.table.PartitionKeys
	if d.table.Kind == catalog.KindView || keys == nil {
		return nil, errAt(name.Span(), "Table %s.%s in catalog %s is not partitioned.", d.id.Database, d.id.Object, d.id.Catalog)
	}
	r, err := b.read(d, name)
	if err != nil {
		return nil, err
	}
	at := func(column string) int {
		return slices.IndexFunc(r.Columns, func(c Column) bool { return c.Name == column })
	}
	seen := map[string]bool{}
	var conditions []expr.Expr
	for _, item := range spec {
		column := item.Name.Name
		switch {
		case !slices.Contains(keys, column):
			e := errAt(item.Name.Span(), "'%s' is no partition column of table %s; they are [%s]", column, d.id, strings.Join(keys, ", "))
			e.Hint = didYouMean(column, keys)
			return nil, e
		case seen[column]:
			return nil, errAt(item.Name.Span(), "Partition column '%s' is named twice", column)
		case item.Value == nil:
			return nil, withHint(errAt(item.Span(), "Partition column '%s' has no value", column), "write column = value")
		}
		seen[column] = true
		x := plan.ColumnOf(r.Node, at(column))
		v, err := b.partitionValue(item, x.T)
		if err != nil {
			return nil, err
		}
		eq, err := expr.NewCall("=", []expr.Expr{x, v}, span(item.Span()))
		if err != nil {
			return nil, positioned(err)
		}
		conditions = append(conditions, eq)
	}
	in := r.Node
	if len(conditions) > 0 {
		in = plan.NewFilter(in, plan.And(conditions))
	}
	exprs := make([]expr.Expr, len(keys))
	for i, k := range keys {
		exprs[i] = plan.ColumnOf(in, at(k))
	}
	distinct := plan.NewDistinct(plan.NewProject(in, exprs, keys))
	sorts := make([]plan.SortKey, len(keys))
	for i := range keys {
		sorts[i] = plan.SortKey{Expr: plan.ColumnOf(distinct, i)}
	}
	return relation(plan.NewSort(distinct, sorts, -1, 0), name.Span()), nil
}
