package plan

import (
	"slices"
	"strings"

	"github.com/sluice-sql/sluice/expr"
)

// Mode is a set of row kinds: what a node's rows may be while a streaming job runs.
type Mode uint8

// The row kinds.
const (
	Insert Mode = 1 << iota
	UpdateBefore
	UpdateAfter
	Delete
)

// InsertOnly reports whether rows are only ever added.
func (m Mode) InsertOnly() bool { return m == Insert }

// String returns the kinds as EXPLAIN prints them: I,UB,UA,D.
func (m Mode) String() string {
	var parts []string
	for i, name := range [...]string{"I", "UB", "UA", "D"} {
		if m&(1<<i) != 0 {
			parts = append(parts, name)
		}
	}
	return strings.Join(parts, ",")
}

// Changes is what is known of the changes that a node makes.
type Changes struct {
	Mode Mode
	// Keys are the upsert keys, each a set of columns in order: after any change there is at most one row
	// for each value of such columns, and a row replaces the one before it with the same value. An empty
	// key says that there is at most one row. Nil: none is known.
	Keys [][]int
	// Constant are the columns that have one value in all rows for good. Each may be added to a key, or
	// left out of one.
	Constant []bool
}

// Changelog says of each node of a plan which changes it makes in a streaming job. The kinds follow from the
// inputs; whether an update comes with the row that it replaces, from those who need it. before says that
// whoever gets the rows of root does. Joins and the like, which streaming jobs do not have, only insert.
//
//   - Tables and VALUES insert. A table's PRIMARY KEY is its upsert key.
//   - A filter and a projection make the changes of their input. A filter over more than the columns of an
//     upsert key needs the row before: the row after it may be left out, and the -U is all that tells. A key
//     stays a key where a projection keeps its columns, under whatever names.
//   - UNION ALL makes the changes of all its inputs, and has no key: two inputs may have one value.
//   - A grouping has its grouping columns as key. It inserts; with calls it updates, as without them all
//     columns are the key's; it deletes when its input takes rows back. From its input it needs what was
//     before.
func Changelog(root Node, before bool) map[Node]Changes {
	c := changelog{}
	c.derive(root)
	c.demand(root, before)
	return c
}

type changelog map[Node]Changes

// derive finds kinds and keys from the inputs up. Updates have their UpdateAfter alone.
func (c changelog) derive(n Node) Changes {
	out := Changes{Mode: Insert}
	for _, child := range n.Children() {
		out.Mode |= c.derive(child).Mode
	}
	switch n := n.(type) {
	case *Scan:
		out.Keys = n.key()
	case *Values:
		if n.Rows() <= 1 {
			out.Keys = [][]int{{}}
		}
	case *Filter:
		in := c[n.Input]
		out.Keys, out.Constant = in.Keys, in.Constant
	case *Limit:
		in := c[n.Input]
		out.Keys, out.Constant = in.Keys, in.Constant
	case *Project:
		in := c[n.Input]
		out.Keys, out.Constant = projectKeys(in.Keys, n.Exprs), constants(in.Constant, n.Exprs)
	case *Aggregate:
		in := out.Mode
		out.Mode = Insert
		if len(n.Aggs) > 0 {
			out.Mode |= UpdateAfter
		}
		if !in.InsertOnly() {
			out.Mode |= Delete
		}
		out.Constant = append(constants(c[n.Input].Constant, n.Keys), make([]bool, len(n.Aggs))...)
		key := []int{}
		for i := range n.Keys {
			if !out.Constant[i] {
				key = append(key, i)
			}
		}
		out.Keys = [][]int{key}
	}
	if out.Constant == nil {
		out.Constant = make([]bool, Width(n))
	}
	c[n] = out
	return out
}

// demand adds UpdateBefore where it is needed, from the sink down, and returns the node's mode.
func (c changelog) demand(n Node, before bool) Mode {
	out := c[n]
	if f, ok := n.(*Filter); ok && !decidedByKey(f.Condition, c[f.Input].Keys) {
		before = true
	}
	if a, ok := n.(*Aggregate); ok {
		c.demand(a.Input, true)
		if before && out.Mode&UpdateAfter != 0 {
			out.Mode |= UpdateBefore
		}
	} else {
		for _, child := range n.Children() {
			out.Mode |= c.demand(child, before)
		}
	}
	c[n] = out
	return out.Mode
}

// decidedByKey reports whether a condition lets through either all rows of a key's value or none.
func decidedByKey(condition expr.Expr, keys [][]int) bool {
	if expr.Volatile(condition) {
		return false
	}
	used := expr.Columns(condition)
	return slices.ContainsFunc(keys, func(key []int) bool {
		return !slices.ContainsFunc(used, func(i int) bool { return !slices.Contains(key, i) })
	})
}

// key returns the positions of the table's PRIMARY KEY when all its columns are read.
func (s *Scan) key() [][]int {
	var key []int
	for _, name := range s.Table.Def.Schema.PrimaryKey {
		i := slices.IndexFunc(s.Columns, func(c int) bool { return s.Table.Columns[c].Name == name })
		if i < 0 {
			return nil
		}
		key = append(key, i)
	}
	if key == nil {
		return nil
	}
	slices.Sort(key)
	return [][]int{key}
}

// maxKeys bounds the keys of a node: a column that a projection gives twice makes two keys of one.
const maxKeys = 16

// projectKeys returns the keys that are left when columns are projected.
func projectKeys(keys [][]int, exprs []expr.Expr) [][]int {
	images := map[int][]int{} // where each column of the input is in the output
	for i, e := range exprs {
		if c, ok := original(e).(*expr.Column); ok {
			images[c.Index] = append(images[c.Index], i)
		}
	}
	var out [][]int
	for _, key := range keys {
		sets := [][]int{{}}
		for _, column := range key {
			var longer [][]int
			for _, set := range sets {
				for _, i := range images[column] {
					longer = append(longer, append(slices.Clone(set), i))
				}
			}
			sets = longer[:min(len(longer), maxKeys)]
		}
		out = append(out, sets...)
	}
	for _, key := range out {
		slices.Sort(key)
	}
	return out[:min(len(out), maxKeys):len(out)]
}

// constants says which expressions have one value in all rows, when columns of the input do.
func constants(in []bool, exprs []expr.Expr) []bool {
	out := make([]bool, len(exprs))
	for i, e := range exprs {
		out[i] = !expr.Volatile(e) && !slices.ContainsFunc(expr.Columns(e), func(c int) bool { return !in[c] })
	}
	return out
}

// Describe returns what EXPLAIN says of the changes of a node.
func (c Changes) Describe(n Node) string {
	d := "changelogMode=[" + c.Mode.String() + "]"
	if c.Keys == nil {
		return d
	}
	keys := make([]string, len(c.Keys))
	for i, key := range c.Keys {
		names := make([]string, len(key))
		for k, column := range key {
			names[k] = n.Schema().Columns[column].Name
		}
		keys[i] = "[" + strings.Join(names, ", ") + "]"
	}
	return d + ", upsertKeys=[" + strings.Join(keys, ", ") + "]"
}

// IsKey reports whether columns are one of the keys, as a set, but for those that are constant.
func (c Changes) IsKey(columns []int) bool {
	more := func(a, b []int) bool {
		return slices.ContainsFunc(a, func(i int) bool { return !c.Constant[i] && !slices.Contains(b, i) })
	}
	return slices.ContainsFunc(c.Keys, func(key []int) bool { return !more(key, columns) && !more(columns, key) })
}

// Updates reports whether rows of a plan are updated or deleted in a streaming job.
func Updates(n Node) bool {
	if a, ok := n.(*Aggregate); ok && len(a.Aggs) > 0 {
		return true
	}
	return slices.ContainsFunc(n.Children(), Updates)
}
