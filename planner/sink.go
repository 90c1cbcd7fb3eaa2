package planner

import (
	"strings"

	"github.com/sluice-sql/sluice/connector"
	"github.com/sluice-sql/sluice/planner/bind"
	"github.com/sluice-sql/sluice/planner/lower"
	"github.com/sluice-sql/sluice/planner/plan"
	"github.com/sluice-sql/sluice/sqlparse"
)

// writeChanges decides how a streaming job puts the rows of a query into its target, or refuses it at the
// target's name:
//
//   - a target that takes changes as they are gets them;
//   - rows that are only ever added are inserted: as in batch mode, one whose key is there already is an
//     error, unless the target's own option says otherwise;
//   - rows that are updated or deleted need a target that replaces rows by its PRIMARY KEY, which must be the
//     upsert key of the query.
//
// The query, root, is as the statement says it: what it is like does not depend on the optimiser.
func writeChanges(root plan.Node, w *bind.Write, t *lower.Target, at sqlparse.Span) error {
	if t.Changelog = w.Changes; w.Changes {
		return nil
	}
	changes := plan.Changelog(root, false)
	c := changes[root]
	if c.Mode.InsertOnly() {
		return nil
	}
	key, whole := w.KeyColumns()
	switch {
	case w.Opened && !w.Upserts:
		return noChanges(w, root, changes, at, "its connector can only add rows; the tables of a catalog that have a PRIMARY KEY replace them by it")
	case w.Table.Schema.PrimaryKey == nil && c.Keys == nil:
		return noChanges(w, root, changes, at, noKey)
	case w.Table.Schema.PrimaryKey == nil && len(c.Keys[0]) == 0:
		return noChanges(w, root, changes, at, "the query has at most one row and so no column as a key: add one of one value, such as 1 AS `id`, and declare the table with PRIMARY KEY (`id`) NOT ENFORCED")
	case w.Table.Schema.PrimaryKey == nil:
		return noChanges(w, root, changes, at, "declare the table with PRIMARY KEY ("+quoted(w, c.Keys[0])+") NOT ENFORCED, which is the upsert key of the query")
	case !whole || !c.IsKey(key):
		return differs(w, c, at)
	}
	t.Upsert = key
	return nil
}

const noKey = "the rows of the query have no upsert key by which they could be replaced: GROUP BY gives one, UNION ALL and leaving out its columns take it away"

// noChanges refuses a target that takes new rows only.
func noChanges(w *bind.Write, root plan.Node, changes map[plan.Node]plan.Changes, at sqlparse.Span, hint string) error {
	what := "update changes"
	if changes[root].Mode&plan.Delete != 0 {
		what = "update and delete changes"
	}
	return &sqlparse.Error{Span: at, Hint: hint,
		Msg: "Table sink '" + w.Target.String() + "' doesn't support consuming " + what + " which is produced by node " + origin(root, changes).Describe()}
}

// origin returns the node that changes come from first.
func origin(n plan.Node, changes map[plan.Node]plan.Changes) plan.Node {
	if _, ok := n.(*plan.Aggregate); ok {
		return n
	}
	for _, c := range n.Children() {
		if !changes[c].Mode.InsertOnly() {
			return origin(c, changes)
		}
	}
	return n
}

// differs refuses a PRIMARY KEY that is not the key of the rows.
func differs(w *bind.Write, c plan.Changes, at sqlparse.Span) error {
	key := "none"
	hint := noKey
	if c.Keys != nil {
		key = "[" + names(w, c.Keys[0]) + "]"
		hint = "rows would be replaced by what is not their key: group by the primary key, or write into a table with PRIMARY KEY (" + quoted(w, c.Keys[0]) + ") NOT ENFORCED"
		if len(c.Keys[0]) == 0 {
			hint = "the query has at most one row: give the columns of the primary key one value each"
		}
	}
	return &sqlparse.Error{Span: at, Hint: hint,
		Msg: "The query has an upsert key that differs from the primary key of the sink table '" + w.Target.String() +
			"'. Primary key: [" + strings.Join(w.Table.Schema.PrimaryKey, ", ") + "], upsert key: " + key + "."}
}

func names(w *bind.Write, columns []int) string {
	all, list := w.Names(), make([]string, len(columns))
	for i, c := range columns {
		list[i] = all[c]
	}
	return strings.Join(list, ", ")
}

func quoted(w *bind.Write, columns []int) string {
	all, list := w.Names(), make([]string, len(columns))
	for i, c := range columns {
		list[i] = connector.QuoteName(all[c])
	}
	return strings.Join(list, ", ")
}
