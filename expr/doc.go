// Package expr holds typed expression trees, the tables of scalar and aggregate functions, and their
// evaluation over a [column.Batch].
//
// An [Expr] is a [Column], a [Literal], a [Call] of a [Function], or a [Cast]. AND, OR, CASE, COALESCE,
// the comparisons and the arithmetic signs are functions like all others: one literal each in an
// fn_<group>.go file with name, signature, kernel, doc and example; aggregates stand in agg_*.go. Build a
// call with [NewCall], which resolves the overload, adds the implicit casts and types the result, a cast
// with [NewCast] or, to store a value, [Coerce], an aggregate with [NewAggregate]. [Compile] turns an
// expression into an [Evaluator], [CompileFilter] a condition into a [Filter] that narrows a selection;
// [Fold] evaluates what is constant; tree.go walks and rewrites; codec.go is the form in the job graph.
//
// Kernels work on whole vectors at the selected physical rows and leave the others undefined. A strict
// function is run where no argument is NULL; AND, OR, CASE, IF and COALESCE evaluate an operand only at
// the rows that need it, so that its errors appear only there. A kernel is made for one call: it sees
// constant arguments (a pattern, a unit) and prepares them, and fails then and there if they are wrong.
//
// Values never wrap and never become NULL unasked: overflow of integers, decimals and intervals, division
// by zero (but of FLOAT and DOUBLE, which follow IEEE 754) and casts out of range are errors.
//
// The environment (start instant, zone, random seed) is an argument, never read from the process. A
// run-time error is an [Error] that carries the [Span] of the failing expression and the physical row;
// who knows the statement's text makes a position of it.
package expr
