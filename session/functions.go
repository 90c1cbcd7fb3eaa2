package session

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/sluice-sql/sluice/expr"
	"github.com/sluice-sql/sluice/sqlparse"
)

// function is a function as SHOW FUNCTIONS, DESCRIBE FUNCTION and HELP know it.
type function struct {
	names                        []string // the first is its own, the others are aliases
	group                        string
	syntax, doc, example, result string
	kind                         string // SCALAR or AGGREGATE, as Flink calls them
	deterministic                bool
	operator                     bool // not called by name
}

// allFunctions returns the functions of the tables in expr by name, and those that are bound elsewhere.
func allFunctions() []function {
	list := []function{
		{names: []string{"CAST"}, group: "conversion", syntax: "CAST(value AS type)", kind: "SCALAR", deterministic: true,
			doc: "The value in another type; an error where it has none there.", example: "CAST('42' AS INT)", result: "42"},
		{names: []string{"TRY_CAST"}, group: "conversion", syntax: "TRY_CAST(value AS type)", kind: "SCALAR", deterministic: true,
			doc: "The value in another type; NULL where it has none there.", example: "TRY_CAST('x' AS INT)", result: "NULL"},
		{names: []string{"CURRENT_DATABASE"}, group: "catalog", syntax: "CURRENT_DATABASE()", kind: "SCALAR",
			doc: "The name of the database that names of tables are looked up in.", example: "CURRENT_DATABASE()", result: "default_database"},
	}
	for _, f := range expr.Functions() {
		list = append(list, function{names: append([]string{f.Name}, f.Aliases...), group: f.Group, syntax: f.Syntax, doc: f.Doc,
			example: f.Example, result: f.Result, kind: "SCALAR", deterministic: !f.Volatile, operator: f.Hidden})
	}
	for _, a := range expr.Aggregates() {
		list = append(list, function{names: []string{a.Name}, group: "aggregate", syntax: a.Syntax, doc: a.Doc,
			example: a.Example, result: a.Result, kind: "AGGREGATE", deterministic: true})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].names[0] < list[j].names[0] })
	return list
}

// functionNames returns the names that can be called, sorted.
func functionNames() []string {
	var names []string
	for _, f := range allFunctions() {
		if !f.operator {
			names = append(names, f.names...)
		}
	}
	sort.Strings(names)
	return names
}

// findFunction finds a function by any of its names, whatever the case.
func findFunction(name string) (function, bool) {
	name = strings.ToUpper(name)
	for _, f := range allFunctions() {
		if slices.Contains(f.names, name) {
			return f, true
		}
	}
	return function{}, false
}

// showFunctions lists the functions. All are the system's own: no catalog keeps functions yet.
func (s *Session) showFunctions(ctx context.Context, st *sqlparse.ShowFunctions) (*Result, error) {
	if st.From != nil {
		in, database := s.databaseName(*st.From)
		if err := s.catalogs.CheckDatabase(ctx, in, database); err != nil {
			return nil, err
		}
	}
	var names []string
	if !st.User {
		names = functionNames()
	}
	like := st.Like
	if like != nil {
		// Functions are called whatever the case of their names, and so they are found.
		anyCase := *like
		anyCase.IgnoreCase = true
		like = &anyCase
	}
	return list("function name", filterLike(names, like)), nil
}

// describeFunction gives what Flink tells of a function, and EXTENDED what its documentation says.
func (s *Session) describeFunction(st *sqlparse.DescribeFunction) (*Result, error) {
	name := st.Name.Last().Name
	f, ok := findFunction(name)
	if !ok || f.operator || len(st.Name.Parts) > 1 {
		parts := make([]string, len(st.Name.Parts))
		for i, p := range st.Name.Parts {
			parts[i] = p.Name
		}
		e := &sqlparse.Error{Span: st.Name.Span(), Msg: fmt.Sprintf("Function with the identifier '%s' doesn't exist.", strings.Join(parts, "."))}
		switch {
		case ok && !f.operator:
			e.Hint = "the functions of the system have names of one part: DESCRIBE FUNCTION " + f.names[0]
		case len(st.Name.Parts) == 1:
			e.Hint = functionHint(name)
		}
		return nil, e
	}
	m := newMetadata("info name", "info value")
	m.add("is system function", "true")
	m.add("is temporary", "false")
	if st.Extended {
		m.add("kind", f.kind)
		m.add("requirements", "[]")
		m.add("is deterministic", strconv.FormatBool(f.deterministic))
		m.add("supports constant folding", strconv.FormatBool(f.deterministic && f.kind == "SCALAR"))
		m.add("signature", f.syntax)
		m.add("description", f.doc)
		m.add("example", f.example+" is "+f.result)
	}
	return m.result(), nil
}

// functionHint says what a name that no function has was meant for.
func functionHint(name string) string {
	if err, ok := expr.Refusal(name, expr.Span{}).(*expr.Error); ok {
		return err.Msg
	}
	if _, err := expr.NewCall(name, nil, expr.Span{}); err != nil {
		if e, ok := err.(*expr.Error); ok && e.Hint != "" {
			return e.Hint
		}
	}
	return lastResort
}

const lastResort = "SHOW FUNCTIONS lists them"

// showModules lists the modules: functions come from the core module alone.
func (s *Session) showModules(st *sqlparse.ShowModules) (*Result, error) {
	if !st.Full {
		return list("module name", []string{"core"}), nil
	}
	m := newMetadata("module name", "used")
	m.boolean(1)
	m.add("core", true)
	return m.result(), nil
}
